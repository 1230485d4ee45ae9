package io.holdfast;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The holds of permits of a name when the store answered. For people and tools, not for decisions: it may be out of date
 * when it is read.
 *
 * <pre>{@code
 * PermitsState state = locks.permits("export", 5).inspect();
 * log.info("{} of 5 exports run, {} callers wait", state.used(), state.waiting());
 * state.holds().forEach(hold -> log.info("  {}", hold.title()));
 * }</pre>
 *
 * <p>The store keeps no limit: each request has its own. What the clients say of theirs is on their cards, {@link
 * ClientCard#permits}.
 *
 * @param name the name of the permits
 * @param used how many permits are held
 * @param holds the holds, that which ends first as the first; a store may list only a thousand of them
 * @param waiting how many requests wait at the store: at most 16 of each client, although more of its callers may wait
 */
public record PermitsState(String name, int used, List<Hold> holds, int waiting) {

    /**
     * One hold, of one lease.
     *
     * @param holder the holder, as the store shows it
     * @param permits how many permits it has
     * @param remaining how long it lasts if it is not renewed
     * @param fencingToken its smallest token, which does not fence: see {@link Permits}
     * @param holderCard the card of the client that has it, if it has written one and is among the first hundred here
     */
    public record Hold(
            String holder, int permits, Duration remaining, long fencingToken, Optional<ClientCard> holderCard) {

        /** Returns a description of the holder for people, without control characters. */
        public String title() {
            return LockState.title("", holder, holderCard);
        }
    }

    /** Copies the list. */
    public PermitsState {
        holds = List.copyOf(holds);
    }

    /** Returns whether any permit is held. */
    public boolean isUsed() {
        return used > 0;
    }

    /** Returns the hold of this holder, if it has one. */
    public Optional<Hold> hold(String holder) {
        return holds.stream().filter(hold -> hold.holder().equals(holder)).findFirst();
    }
}
