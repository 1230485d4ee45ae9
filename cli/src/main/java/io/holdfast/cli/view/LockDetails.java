package io.holdfast.cli.view;

import io.holdfast.ClientCard;
import io.holdfast.cli.console.Shell;
import io.holdfast.console.Ages;
import io.holdfast.console.Flag;
import io.holdfast.console.Holder;
import io.holdfast.console.LockPicture;
import io.holdfast.console.LockRow;
import io.holdfast.console.Queued;
import io.holdfast.spi.Names;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Describes all that is known of one lock, in lines.
 *
 * @param storeOption the option {@code --store} for the command that breaks the lock, with a blank after it; or empty
 */
public record LockDetails(LockPicture picture, LockRow lock, String storeOption) {

    /** Returns the lines, without control characters. */
    public List<String> lines() {
        if (lock.isPool()) {
            return new PoolDetails(lock, null, storeOption).lines();
        }
        List<String> lines = new ArrayList<>();
        field(lines, "name", lock.name());
        if (lock.holder().isEmpty()) {
            boolean known = lock.waiters() > 0 || lock.acquiredPerSecond() > 0;
            field(
                    lines,
                    "held by",
                    known
                            ? "nobody"
                            : "nobody; no client of Holdfast waits for this name or used it often of late"
                                    + " (is the name right?)");
        } else {
            addHolder(lines, lock.holder().get());
        }
        addQueue(lines, lock);
        Stream.concat(picture.cycles().stream(), picture.possibleCycles().stream())
                .filter(cycle -> cycle.contains(lock.name()))
                .forEach(cycle -> {
                    lines.add("");
                    LockTable.drawing(cycle).forEach(line -> lines.add(Names.printable(line)));
                });
        lock.holder().ifPresent(holder -> addBreaking(lines, holder));
        return lines;
    }

    private void addHolder(List<String> lines, Holder holder) {
        field(
                lines,
                "held by",
                holder.title()
                        + holder.heldFor().map(held -> ", for " + Ages.of(held)).orElse(""));
        holder.thread().ifPresent(thread -> field(lines, "thread", thread));
        holder.traceId().ifPresent(trace -> field(lines, "trace", trace));
        if (!holder.title().equals(holder.id())) {
            field(lines, "id", holder.id());
        }
        field(
                lines,
                "token",
                holder.fencingToken().isEmpty()
                        ? "unknown"
                        : holder.fencingToken().getAsLong() + (holder.heldFor().isEmpty() ? " or larger" : ""));
        field(lines, "ends", ends(holder));
        holder.card()
                .ifPresent(card -> field(
                        lines,
                        "client",
                        "Holdfast " + card.version() + ", last heard of " + Ages.of(card.heard()) + " ago; holds "
                                + card.heldCount() + ", waits for " + card.waitingCount()));
        if (!lock.flags().isEmpty()) {
            field(lines, "flags", LockTable.flags(lock));
        }
    }

    private String ends(Holder holder) {
        if (lock.flags().contains(Flag.NO_EXPIRY)) {
            return "never: the key at the store has no expiry, so it is no lock of Holdfast";
        }
        String when = holder.endsIn().map(left -> "in " + Ages.of(left)).orElse("");
        if (lock.flags().contains(Flag.DEAD)) {
            return (when.isEmpty() ? "soon" : when) + ": its client is silent, so nobody renews it";
        }
        if (holder.isRenewed()) {
            return (when.isEmpty() ? "" : when + ", but ") + "renewed for as long as it is held";
        }
        return lock.flags().contains(Flag.NOT_RENEWED)
                ? when + ": the lease has a fixed length"
                : (when.isEmpty() ? "unknown" : when + ", unless renewed");
    }

    static void addQueue(List<String> lines, LockRow lock) {
        if (lock.waiters() == 0) {
            field(lines, "waiting", "nobody, as the cards of the clients say");
            return;
        }
        field(
                lines,
                "waiting",
                lock.waiters() + (lock.waiters() == 1 ? " caller" : " callers") + " in "
                        + lock.queue().size()
                        + (lock.queue().size() == 1 ? " client" : " clients") + ", the longest for "
                        + Ages.of(lock.longestWait()));
        for (Queued queued : lock.queue()) {
            String own = lock.holder()
                    .flatMap(Holder::card)
                    .map(ClientCard::id)
                    .filter(queued.client().id()::equals)
                    .map(same -> ", the holder's own client")
                    .orElse("");
            lines.add("  " + queued.client().title() + ": " + queued.waiters()
                    + queued.mode().map(mode -> " to " + mode.text()).orElse("") + " for "
                    + Ages.of(queued.waited())
                    + queued.thread()
                            .map(thread -> ", first in thread " + Names.printable(thread))
                            .orElse("") + own);
        }
    }

    private void addBreaking(List<String> lines, Holder holder) {
        lines.add("");
        boolean plain = Names.printable(lock.name()).equals(lock.name());
        lines.add("To break it: "
                + (plain
                        ? "holdfast release --yes --holder " + Shell.word(holder.id()) + " " + storeOption
                                + (lock.name().startsWith("-") ? "-- " : "")
                                + Shell.word(lock.name())
                        : "the name has control characters, so use LockClient.forceRelease"));
        lines.add("  " + lock.consequenceOfRelease(holder));
    }

    static void field(List<String> lines, String what, String value) {
        lines.add(String.format("%-8s %s", what, Names.printable(value)));
    }
}
