package io.holdfast.quorum;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongUnaryOperator;

/**
 * Opens to the verification what the quorum store keeps to its package. An object of it is the real store without
 * threads: each member has its seat at once, and is examined like a member that was reached late.
 */
public final class VerifyQuorum {

    private final QuorumLockStore store;

    public VerifyQuorum(
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
        store = new QuorumLockStore(all, examinations, wakeups);
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

    /** How many of so many members are a majority. */
    public static int majority(int members) {
        return Members.majority(members);
    }

    /** The store's agreement on one token. */
    public record Round(TokenRound round) {

        public Round(int members, long candidate, int accepted, int refused, long highest) {
            this(new TokenRound(members, candidate, accepted, refused, highest));
        }

        public static Round propose(int members, long candidate) {
            return new Round(TokenRound.propose(members, candidate));
        }

        public Round answered(int member, boolean wrote, long register) {
            return new Round(round.answered(member, wrote, register));
        }

        public boolean isCommitted() {
            return round.isCommitted();
        }

        public boolean isRefused() {
            return round.isRefused();
        }

        public Round next() {
            return new Round(round.next());
        }

        public long candidate() {
            return round.candidate();
        }

        public int accepted() {
            return round.accepted();
        }

        public int refused() {
            return round.refused();
        }

        public long highest() {
            return round.highest();
        }
    }
}
