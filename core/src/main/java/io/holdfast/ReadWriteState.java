package io.holdfast;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The holds on a read-write lock when the store answered. For people and tools, not for decisions: it may be out of date
 * when it is read.
 *
 * <pre>{@code
 * ReadWriteState state = locks.getReadWriteLock("catalog").inspect();
 * log.info("{} readers, {} callers wait", state.readers(), state.waiting());
 * state.writer().ifPresent(hold -> log.info("written by {}", hold.title()));
 * }</pre>
 *
 * @param name the name of the read-write lock
 * @param holds the holds, that which ends first as the first; a store may list only a thousand of them
 * @param waiting how many requests wait at the store: at most 16 of each client, although more of its callers may wait
 */
public record ReadWriteState(String name, List<Hold> holds, int waiting) {

    /**
     * One hold, of one lease or of several readers of one client.
     *
     * @param holder the holder, as the store shows it
     * @param isWriter whether it excludes all others
     * @param remaining how long it lasts if it is not renewed
     * @param fencingToken its smallest token, which fences only if it is a writer's
     * @param holderCard the card of the client that has it, if it has written one and is among the first hundred here
     */
    public record Hold(
            String holder, boolean isWriter, Duration remaining, long fencingToken, Optional<ClientCard> holderCard) {

        /** Returns a description of the holder for people, without control characters. */
        public String title() {
            return LockState.title("", holder, holderCard);
        }
    }

    /** Copies the list. */
    public ReadWriteState {
        holds = List.copyOf(holds);
    }

    /** Returns whether there is a reader or a writer. */
    public boolean isHeld() {
        return !holds.isEmpty();
    }

    /** Returns the hold of the writer; empty if nobody writes. */
    public Optional<Hold> writer() {
        return holds.stream().filter(Hold::isWriter).findFirst();
    }

    /** Returns how many holds readers have. */
    public int readers() {
        return (int) holds.stream().filter(hold -> !hold.isWriter()).count();
    }

    /** Returns the hold of this holder, if it has one. */
    public Optional<Hold> hold(String holder) {
        return holds.stream().filter(hold -> hold.holder().equals(holder)).findFirst();
    }
}
