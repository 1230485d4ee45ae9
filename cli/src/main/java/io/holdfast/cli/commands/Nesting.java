package io.holdfast.cli.commands;

import io.holdfast.DistributedReadWriteLock;
import io.holdfast.LockClient;
import io.holdfast.Permits;
import io.holdfast.PermitsState;
import io.holdfast.cli.console.CliException;
import io.holdfast.cli.console.ExitCode;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The {@code exec} and {@code leader} commands around this process, as far as the environment tells of them.
 *
 * <p>Invariant: {@value #HOLDERS} names only holds that one of them had when it started its
 * command. A holder id is never used twice, so the store's present holder is in the list only if that one still
 * holds the lock. A comparison of lock names and store URIs would say less: one store has several URIs, and a
 * program that was started by a command keeps its variables after that one has ended.
 */
final class Nesting {

    /** The holder ids, separated by blanks, the outermost first. */
    private static final String HOLDERS = "HOLDFAST_HOLDERS";

    private Nesting() {}

    /** Returns whether this process was started by the command of one of them. */
    static boolean isInside() {
        return !holders().isEmpty();
    }

    /** Refuses a lock that one of them holds, because that one waits for this process. */
    static void refuseHeldOutside(LockClient client, String name) {
        List<String> holders = holders();
        if (!holders.isEmpty()
                && client.inspect(name).holder().filter(holders::contains).isPresent()) {
            throw new CliException(
                    ExitCode.USAGE,
                    name + ": held by the holdfast around this one, which would wait for itself (expected: another"
                            + " lock, or only one of the two)");
        }
    }

    /** Refuses permits that cannot be had before one of them ends, because that one waits for this process. */
    static void refuseHeldOutside(Permits permits) {
        List<String> holders = holders();
        if (holders.isEmpty()) {
            return;
        }
        int outside = permits.inspect().holds().stream()
                .filter(hold -> holders.contains(hold.holder()))
                .mapToInt(PermitsState.Hold::permits)
                .sum();
        if (outside > 0 && outside + permits.weight() > permits.limit()) {
            throw new CliException(
                    ExitCode.USAGE,
                    permits.name() + ": the holdfast around this one holds " + outside + " of the " + permits.limit()
                            + " permits, and would wait for itself (expected: a larger limit, or only one of the two)");
        }
    }

    /** Refuses a read-write lock whose holder is one of them and excludes this process, for which that one waits. */
    static void refuseHeldOutside(DistributedReadWriteLock lock, boolean toWrite) {
        List<String> holders = holders();
        if (!holders.isEmpty()
                && lock.inspect().holds().stream()
                        .anyMatch(hold -> (toWrite || hold.isWriter()) && holders.contains(hold.holder()))) {
            throw new CliException(
                    ExitCode.USAGE,
                    lock.name() + ": the holdfast around this one holds the read-write lock, and would wait for itself"
                            + " (expected: another lock, or only one of the two)");
        }
    }

    /**
     * Adds this process's hold to the environment of its command.
     *
     * @param holder as the store shows it, or null if the hold is gone already
     */
    static void enter(@Nullable String holder, Map<String, String> environment) {
        if (holder != null) {
            String outside = String.join(" ", holders());
            environment.put(HOLDERS, outside.isEmpty() ? holder : outside + " " + holder);
        }
    }

    private static List<String> holders() {
        String ids = System.getenv(HOLDERS);
        return ids == null || ids.isBlank() ? List.of() : List.of(ids.strip().split(" +", -1));
    }
}
