package io.holdfast.engine;

import io.holdfast.engine.NameEngine.Reservation;
import io.holdfast.spi.AcquireAllReply;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreException;
import io.holdfast.store.StoreErrors;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One attempt to take several names by one command, all or none, while this client uses none of them.
 *
 * <p>Each name's engine begins an attempt of its own and treats the answer like the answer to an acquire, so deadlines,
 * withdrawal and compensation are those of a single name. The engines are entered one after the other, never two at
 * once; a name that is withdrawn before the command leaves is withdrawn once more when its grant comes.
 */
final class MultiAttempt {

    private final LockStore store;
    private final LockEvents events;
    private final Function<String, NameEngine> engines;
    private final List<String> names;
    private final List<Reservation> made = new ArrayList<>();

    MultiAttempt(LockStore store, LockEvents events, Function<String, NameEngine> engines, List<String> names) {
        this.store = store;
        this.events = events;
        this.engines = engines;
        this.names = names;
    }

    /** Returns one waiter for each name; empty if this client uses one of the names, and then nothing was sent. */
    List<Waiter> submit(Supplier<Waiter> waiters) {
        for (String name : names) {
            Waiter waiter = waiters.get();
            waiter.trace = events.asking(name, true);
            Reservation one = engines.apply(name).reserve(waiter);
            if (one == null) {
                made.forEach(before -> endUnchanged(before, false));
                return List.of();
            }
            made.add(one);
        }
        store.acquireAll(made.stream().map(Reservation::request).toList()).whenComplete(this::onAnswer);
        return made.stream().map(Reservation::waiter).toList();
    }

    private void onAnswer(@Nullable AcquireAllReply reply, @Nullable Throwable error) {
        for (int i = 0; i < made.size(); i++) {
            Reservation one = made.get(i);
            if (reply == null) {
                StoreException failure = StoreErrors.of(error);
                one.engine().handle(state -> state.onMultiFailed(one.waiter(), one.attempt(), failure));
            } else if (reply.isTaken()) {
                Granted granted = reply.granted().get(i);
                one.engine().handle(state -> state.onAcquired(one.attempt(), one.sent(), granted, null));
            } else {
                one.waiter().checksAgain = reply.isEndless();
                boolean notify = !reply.isEndless() && one.engine().name().equals(reply.busy());
                endUnchanged(one, notify);
            }
        }
    }

    /**
     * Ends the attempt for a name for which nothing was sent, or whose command has changed nothing.
     *
     * @param notify whether to notify the listener; true only for the busy name
     */
    private static void endUnchanged(Reservation one, boolean notify) {
        one.engine().handle(state -> {
            one.waiter().failsQuietly |= !notify;
            state.onMultiUnchanged(one.waiter(), one.attempt());
        });
    }
}
