package io.holdfast;

import io.holdfast.spi.DurationText;
import io.holdfast.spi.Names;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/**
 * The state of a name when the store answered. For people and tools, not for decisions: it may be out of date when it
 * is read.
 *
 * <pre>{@code
 * LockState state = locks.inspect("report");
 * state.holderTitle().ifPresent(who -> log.info("the report is made by {}", who));
 * }</pre>
 *
 * @param name the lock name
 * @param holder the holder, as the store shows it; empty if the name is free
 * @param remaining how long the hold lasts if it is not renewed; zero if the name is free; empty if the key has no
 *     expiry, as no lock of this or a compatible library has
 * @param fencingToken the smallest token of the present hold; empty if the store does not know it
 * @param waitingClients how many clients wait in the store's queue
 * @param holderCard the card of the client that holds the lock, if it has written one
 */
public record LockState(
        String name,
        Optional<String> holder,
        Optional<Duration> remaining,
        OptionalLong fencingToken,
        int waitingClients,
        Optional<ClientCard> holderCard) {

    private static final Pattern REDISSON =
            Pattern.compile("\\p{XDigit}{8}(-\\p{XDigit}{4}){3}-\\p{XDigit}{12}:(\\d+)");

    /** Returns whether there was a holder. */
    public boolean isLocked() {
        return holder.isPresent();
    }

    /**
     * Returns a description of the holder for people: {@code billing@pod-7 (pid 4711), for 12 s}, or what is known of a
     * holder without a card. Empty if the name is free. Contains no control characters.
     */
    public Optional<String> holderTitle() {
        return holder.map(id -> title(name, id, holderCard));
    }

    static String title(String name, String holder, Optional<ClientCard> holderCard) {
        return holderCard
                .map(card -> card.title()
                        + card.hold(name)
                                .filter(hold -> hold.holderId().equals(holder))
                                .map(hold -> ", for " + DurationText.rounded(hold.heldFor()))
                                .orElse(""))
                .orElseGet(() -> Names.printable(
                        REDISSON.matcher(holder).matches()
                                ? "Redisson client " + holder.substring(0, holder.indexOf(':')) + ", thread "
                                        + holder.substring(holder.indexOf(':') + 1)
                                : holder));
    }
}
