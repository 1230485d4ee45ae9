package io.holdfast.cli.commands;

import io.holdfast.LockClient;
import io.holdfast.cli.console.CliException;
import io.holdfast.cli.console.ExitCode;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The {@code exec} commands around this process, as far as the environment tells of them.
 *
 * <p>Invariant: {@value #HOLDERS} names only holds that an {@code exec} around this process had when it started its
 * command. A holder id is never used twice, so the store's present holder is in the list only if that {@code exec}
 * still holds the lock. A comparison of lock names and store URIs would say less: one store has several URIs, and a
 * program that was started by a command keeps its variables after the {@code exec} has ended.
 */
final class Nesting {

    /** The holder ids, separated by blanks, the outermost first. */
    private static final String HOLDERS = "HOLDFAST_HOLDERS";

    private Nesting() {}

    /** Returns whether this process was started by the command of an {@code exec}. */
    static boolean isInside() {
        return !holders().isEmpty();
    }

    /** Refuses a lock that an {@code exec} around this process holds, because that one waits for this process. */
    static void refuseHeldOutside(LockClient client, String name) {
        List<String> holders = holders();
        if (!holders.isEmpty()
                && client.inspect(name).holder().filter(holders::contains).isPresent()) {
            throw new CliException(
                    ExitCode.USAGE,
                    name + ": held by the exec that runs this command, which would wait for itself (expected: another"
                            + " lock, or the command without this exec)");
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
