package io.holdfast.quorum;

import io.holdfast.spi.StoreListener;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Merges the members' messages about one release into one wake-up. The first waiting client tries almost at once, the
 * second and the third a little later each. They find the lock taken, or free if the first client did not try. So a
 * release does not begin a race that splits the votes.
 */
final class Wakeups {

    /** The time that slower members have to release too. */
    private static final long FIRST_NANOS = 1_000_000;

    private static final long RANK_NANOS = 5_000_000;

    private final Members members;
    private final Map<String, Boolean> scheduled = new ConcurrentHashMap<>();
    private volatile @Nullable StoreListener listener;
    private volatile BiConsumer<Seat, String> onForced = (seat, id) -> {};

    Wakeups(Members members) {
        this.members = members;
    }

    void listen(@Nullable StoreListener receiver) {
        listener = receiver;
    }

    /** Sets the receiver of a member's message that the hold of an id was ended there by force. */
    void onForced(BiConsumer<Seat, String> receiver) {
        onForced = receiver;
    }

    /** Returns the receiver of one member's messages. */
    QuorumMember.Listener of(Seat seat, Runnable onReconnect) {
        return new QuorumMember.Listener() {
            @Override
            public void released(String name, int rank) {
                if (listener != null && scheduled.putIfAbsent(name, true) == null) {
                    long delay = rank * RANK_NANOS + members.settings().random.applyAsLong(FIRST_NANOS);
                    members.time().schedule(delay, () -> wake(name));
                }
            }

            @Override
            public void contended(String name, String id) {
                tell(receiver -> receiver.contended(name, Claim.holderOf(id)));
            }

            @Override
            public void forced(String name, String id) {
                onForced.accept(seat, id);
            }

            @Override
            public void connecting() {
                tell(StoreListener::connecting);
            }

            @Override
            public void reconnected() {
                seat.mustBeExamined();
                onReconnect.run();
                tell(StoreListener::reconnected);
            }
        };
    }

    private void wake(String name) {
        scheduled.remove(name);
        tell(receiver -> receiver.released(name));
    }

    void tell(Consumer<StoreListener> message) {
        StoreListener receiver = listener;
        if (receiver != null) {
            message.accept(receiver);
        }
    }
}
