package io.holdfast.quorum;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.QuorumMember;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongUnaryOperator;

/**
 * Opens the real quorum store without threads, for the simulation: each member has its seat at once, and is examined as
 * one that was reached late.
 */
public final class QuorumSimulation {

    private final QuorumLockStore store;

    public QuorumSimulation(
            String clientId,
            List<? extends QuorumMember> members,
            TimeSource time,
            LongUnaryOperator random,
            Duration longestLease,
            Duration memberTimeout) {
        QuorumSettings settings = new QuorumSettings();
        settings.random = random;
        settings.longestLease = longestLease;
        settings.memberTimeout = memberTimeout;
        List<Seat> seats = new ArrayList<>();
        Examinations examinations = new Examinations(time, settings, seats);
        for (int i = 0; i < members.size(); i++) {
            int index = i;
            seats.add(new Seat(i, members.get(i).describe(), () -> examinations.examine(index)));
        }
        Members all = new Members("quorum", seats, time, settings);
        Wakeups wakeups = new Wakeups(all);
        for (Seat seat : seats) {
            QuorumMember member = members.get(seat.index);
            member.listen(wakeups.of(seat, () -> examinations.examine(seat.index)));
            seat.occupy(member);
            examinations.examine(seat.index);
        }
        store = new QuorumLockStore(all, examinations, wakeups, clientId);
    }

    public LockStore store() {
        return store;
    }

    /** What is left when nobody holds or waits. */
    public String left() {
        return store.remembered() == 0 && store.undoing() == 0
                ? ""
                : store.remembered() + " claims and " + store.undoing() + " votes to give back";
    }
}
