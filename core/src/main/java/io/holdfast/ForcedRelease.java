package io.holdfast;

import java.util.Optional;

/**
 * The result of a release by force that named the holder: {@link LockClient#forceRelease(String, String)}.
 *
 * <pre>{@code
 * LockState seen = locks.inspect("report");
 * String holder = seen.holder().orElseThrow();
 * ForcedRelease release = locks.forceRelease("report", holder);
 * if (!release.isEnded()) {
 *     log.info("not released; held by {}", release.holderTitle().orElse("nobody"));
 * }
 * }</pre>
 *
 * @param name the lock name
 * @param outcome what became of it
 * @param holder whose hold was ended, or who holds the name now, as the store shows it; empty if the name is free
 * @param holderCard the card of the client of that holder, if it has written one
 */
public record ForcedRelease(String name, Outcome outcome, Optional<String> holder, Optional<ClientCard> holderCard) {

    /** The ways in which a release by force ends. */
    public enum Outcome {
        /** The hold of the named holder was ended. */
        ENDED,
        /** Nobody held the name, so nothing was done. */
        FREE,
        /** Another holder had the name, so nothing was done. */
        HELD_BY_ANOTHER
    }

    /** Returns whether the hold was ended. */
    public boolean isEnded() {
        return outcome == Outcome.ENDED;
    }

    /** Returns a description of {@link #holder} for people, as {@link LockState#holderTitle} gives it. */
    public Optional<String> holderTitle() {
        return holder.map(id -> LockState.title(name, id, holderCard));
    }
}
