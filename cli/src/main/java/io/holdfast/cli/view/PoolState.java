package io.holdfast.cli.view;

import io.holdfast.ClientCard;
import io.holdfast.ClientCard.ReadWriteUse;
import io.holdfast.DistributedReadWriteLock;
import io.holdfast.Permits;
import io.holdfast.PermitsState;
import io.holdfast.ReadWriteState;
import io.holdfast.spi.HolderId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What the store says of permits or of a read-write lock.
 *
 * @param kind which of the two
 * @param name without what stands before it
 * @param used how many permits are held; zero for a read-write lock
 * @param waiting how many requests wait at the store
 */
public record PoolState(Kind kind, String name, int used, List<Hold> holds, int waiting) {

    /** What may have many holders. */
    public enum Kind {
        PERMITS("permits", Permits.SHOWN_PREFIX),
        READ_WRITE("a read-write lock", DistributedReadWriteLock.SHOWN_PREFIX);

        private final String noun;
        private final String prefix;

        Kind(String noun, String prefix) {
            this.noun = noun;
            this.prefix = prefix;
        }

        /** Returns the words for one of them in a sentence. */
        public String noun() {
            return noun;
        }

        /** Returns what stands before the name where it is shown beside locks. */
        public String prefix() {
            return prefix;
        }
    }

    /**
     * One hold.
     *
     * @param permits how many permits it has; zero for a read-write lock
     * @param isWriter whether it is that of a writer
     */
    public record Hold(
            String holder,
            int permits,
            boolean isWriter,
            Duration remaining,
            long fencingToken,
            Optional<ClientCard> card,
            String title) {

        String client() {
            return HolderId.client(holder);
        }
    }

    public static PoolState of(PermitsState state) {
        return new PoolState(
                Kind.PERMITS,
                state.name(),
                state.used(),
                state.holds().stream()
                        .map(hold -> new Hold(
                                hold.holder(),
                                hold.permits(),
                                false,
                                hold.remaining(),
                                hold.fencingToken(),
                                hold.holderCard(),
                                hold.title()))
                        .toList(),
                state.waiting());
    }

    public static PoolState of(ReadWriteState state) {
        return new PoolState(
                Kind.READ_WRITE,
                state.name(),
                0,
                state.holds().stream()
                        .map(hold -> new Hold(
                                hold.holder(),
                                0,
                                hold.isWriter(),
                                hold.remaining(),
                                hold.fencingToken(),
                                hold.holderCard(),
                                hold.title()))
                        .toList(),
                state.waiting());
    }

    /** Returns the name as it is shown beside locks. */
    public String shownName() {
        return kind.prefix() + name;
    }

    public boolean isUsed() {
        return used > 0 || !holds.isEmpty();
    }

    /** Returns the hold of this holder, if it has one. */
    public Optional<Hold> hold(String holder) {
        return holds.stream().filter(hold -> hold.holder().equals(holder)).findFirst();
    }

    /** Returns in words what is held, in the middle of a sentence. */
    public String held() {
        if (kind == Kind.PERMITS) {
            return permits(used) + (used == 1 ? " is held" : " are held");
        }
        long writers = holds.stream().filter(Hold::isWriter).count();
        long readers = holds.size() - writers;
        return writers > 0
                ? "a writer has it"
                : readers == 0 ? "nobody has it" : readers == 1 ? "1 reader has it" : readers + " readers have it";
    }

    static String permits(int count) {
        return count == 1 ? "1 permit" : count + " permits";
    }

    /** Returns in words what a hold has. */
    String share(Hold hold) {
        if (kind == Kind.PERMITS) {
            return permits(hold.permits());
        }
        return hold.isWriter() ? "writes" : readers(hold);
    }

    /** Readers of one client may share one hold. Only the card of the client has their number. */
    private String readers(Hold hold) {
        boolean isOnly = holds.stream()
                        .filter(one -> !one.isWriter() && one.client().equals(hold.client()))
                        .count()
                == 1;
        int readers = hold.card().stream()
                .flatMap(card -> card.readWrite().stream())
                .filter(use -> !use.isWriter() && use.name().equals(name))
                .mapToInt(ReadWriteUse::leases)
                .sum();
        return "reads" + (isOnly && readers > 1 ? " (" + readers + " readers)" : "");
    }
}
