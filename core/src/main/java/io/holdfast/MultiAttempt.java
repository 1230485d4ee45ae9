package io.holdfast;

import io.holdfast.NameEngine.Reservation;
import io.holdfast.NameEngine.Reservation.Made;
import io.holdfast.spi.AcquireAllReply;
import java.util.ArrayList;
import java.util.List;
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

    private final Engine engine;
    private final List<String> names;
    private final List<Made> made = new ArrayList<>();

    MultiAttempt(Engine engine, List<String> names) {
        this.engine = engine;
        this.names = names;
    }

    /** Returns one waiter for each name; empty if this client uses one of the names, and then nothing was sent. */
    List<Waiter> submit(Supplier<Waiter> waiters) {
        for (String name : names) {
            if (reserve(name, waiters.get()) instanceof Made one) {
                made.add(one);
            } else {
                made.forEach(before -> before.engine().notTakenTogether(before, false));
                return List.of();
            }
        }
        engine.store().acquireAll(made.stream().map(Made::request).toList()).whenComplete(this::answered);
        return made.stream().map(Made::waiter).toList();
    }

    private Reservation reserve(String name, Waiter waiter) {
        while (true) {
            Reservation reservation = engine.engine(name).reserve(waiter);
            if (!(reservation instanceof Reservation.Retired)) {
                return reservation;
            }
        }
    }

    private void answered(@Nullable AcquireAllReply reply, @Nullable Throwable error) {
        for (int i = 0; i < made.size(); i++) {
            Made one = made.get(i);
            if (reply == null) {
                one.engine().failedTogether(one, StoreErrors.of(error));
            } else if (reply.isTaken()) {
                one.engine().grantedTogether(one, reply.granted().get(i));
            } else {
                one.waiter().looksAgain = reply.isEndless();
                boolean told = !reply.isEndless() && one.engine().name().equals(reply.busy());
                one.engine().notTakenTogether(one, told);
            }
        }
    }
}
