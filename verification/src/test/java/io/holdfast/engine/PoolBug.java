package io.holdfast.engine;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockException;
import io.holdfast.engine.PoolEngine.Pool;
import io.holdfast.engine.VerifyEngine.OwnedShares;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.ClockReading;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewRequest;
import io.holdfast.store.StoreOpening;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What could be wrong with permits and read-write locks. Switched on one at a time, to see that it is found. */
public enum PoolBug {
    NONE,

    // In the engine:

    /** A grant, or another message, reaches another lane of the name. */
    MESSAGE_TO_A_NEIGHBOR,
    /** No message reaches the lane that it is for. */
    MESSAGE_TO_NOBODY,
    /** A lane that is over is still known by its numbers. */
    NUMBERS_ARE_KEPT,
    /** A request for several permits asks for one. */
    WEIGHT_IS_FORGOTTEN,
    /** A request asks by a limit that is one too large. */
    LARGER_LIMIT,
    /** A wait behind the gate has all of its time again when it is let in. */
    DEADLINE_BEGINS_ANEW_AT_THE_GATE,
    /** A wait behind the gate does not end by its time. */
    NO_DEADLINE_BEHIND_THE_GATE,
    /** Nobody is let in when another lane leaves. */
    GATE_ADMITS_NOBODY,
    /** A lane that has left is still counted. */
    GATE_KEEPS_THOSE_THAT_LEAVE,
    /** All lanes ask the store. */
    GATE_IS_OPEN,
    LOSS_IS_NOT_TOLD,

    // Among the readers of a client:

    /** A reader joins those that read, although a writer waits. */
    READERS_JOIN_IN_FRONT_OF_A_WRITER,
    /** Readers are granted their hold while a writer waits behind them, and do not see that. */
    WRITER_BEHIND_A_GRANT_IS_NOT_SEEN,
    /** The first reader that leaves releases the hold of all. */
    READ_HOLD_IS_RELEASED_WHILE_READ,
    /** A reader whose thread has died is renewed with the others. */
    DEAD_READERS_ARE_RENEWED,
    /** One of the readers hears that the hold is lost. */
    ONE_READER_IS_TOLD_OF_THE_LOSS,
    /** One of the readers hears twice that the hold is lost. */
    A_READER_IS_TOLD_TWICE_OF_THE_LOSS,
    /** Who reads does not learn from a renewal that a writer waits, where the message that says so is lost. */
    RENEWALS_DO_NOT_COUNT_WRITERS,
    /** A thread that reads again waits for the writer that waits for it. */
    READING_AGAIN_WAITS_FOR_THE_WRITER,
    /** A thread that reads under its write lock releases that when it unlocks it. */
    DOWNGRADE_RELEASES_THE_WRITE_LOCK,

    // At the client's end of the network:

    NOTHING_IS_WITHDRAWN,

    // At the server:

    GRANT_IS_NOT_SENT,
    NO_NOT_AFTER,
    REMAINING_OF_MINUS_ONE,
    LEAVING_SERVES_NOBODY,
    SMALL_OVERTAKES_LARGE,
    RELEASE_AGAIN_SUBTRACTS_AGAIN,
    READERS_OVERTAKE_A_WRITER,
    /** Readers that read are not told that a writer waits. */
    WRITERS_ARE_NOT_TOLD_OF,
    /** What a release frees is granted to the first waiter only. */
    SERVING_STOPS_AFTER_ONE_GRANT;

    /** Opens the threads' steps on a read-write lock. */
    public OwnedShares shares(LockClient client, String name) {
        return new OwnedShares(client, name) {
            @Override
            public boolean enterAgain(boolean isWrite, Thread thread) {
                ActiveLease share = shareOf(thread);
                boolean waits =
                        PoolBug.this == READING_AGAIN_WAITS_FOR_THE_WRITER && share != null && share.hold.contended;
                return !waits && super.enterAgain(isWrite, thread);
            }

            @Override
            public @Nullable Lease leave(boolean isWrite, Thread thread) {
                ActiveLease share = shareOf(thread);
                Lease last = super.leave(isWrite, thread);
                return PoolBug.this == DOWNGRADE_RELEASES_THE_WRITE_LOCK && isWrite ? share : last;
            }
        };
    }

    PoolEngine.Maker engines() {
        return WrongEngine::new;
    }

    private final class WrongEngine extends PoolEngine {

        private final List<Lane> live = new ArrayList<>();

        WrongEngine(Engine locks, StoreOpening opening) {
            super(locks, opening);
        }

        @Override
        Gate newGate() {
            return new WrongGate();
        }

        @Override
        Lane newLane(Pool pool, PoolRequest wanted) {
            Lane lane = new WrongLane(this, pool, wanted);
            live.add(lane);
            return lane;
        }

        @Override
        ReadGroup newGroup(Pool pool, PoolRequest wanted) {
            return new WrongGroup(this, pool, wanted);
        }

        @Override
        void retire(NameEngine retired) {
            Lane lane = (Lane) retired;
            live.remove(lane);
            List<Long> numbers = List.copyOf(lane.numbers());
            super.retire(retired);
            if (PoolBug.this == NUMBERS_ARE_KEPT) {
                numbers.forEach(number -> map(number, lane));
            }
        }

        @Override
        @Nullable
        Lane lane(String holderId) {
            Lane right = super.lane(holderId);
            return switch (PoolBug.this) {
                case MESSAGE_TO_A_NEIGHBOR ->
                    live.stream().filter(lane -> lane != right).findFirst().orElse(right);
                case MESSAGE_TO_NOBODY -> null;
                default -> right;
            };
        }
    }

    private final class WrongGate extends Gate {

        @Override
        boolean enter(Lane lane) {
            return PoolBug.this == GATE_IS_OPEN || super.enter(lane);
        }

        @Override
        void leave(Lane lane) {
            if (PoolBug.this != GATE_KEEPS_THOSE_THAT_LEAVE) {
                super.leave(lane);
            }
        }

        @Override
        void admit() {
            if (PoolBug.this != GATE_ADMITS_NOBODY) {
                super.admit();
            }
        }
    }

    @SuppressWarnings("serial") // nobody writes it anywhere
    private final class WrongLane extends Lane {

        /** What it asks for, sent or not. */
        private @Nullable Attempt asking;

        WrongLane(PoolEngine pools, Pool pool, PoolRequest wanted) {
            super(pools, pool, wanted);
        }

        @Override
        public void sendAcquire(Attempt attempt) {
            asking = attempt;
            super.sendAcquire(attempt);
        }

        @Override
        AcquireRequest request(Attempt attempt) {
            AcquireRequest right = super.request(attempt);
            return switch (PoolBug.this) {
                case WEIGHT_IS_FORGOTTEN -> right.weighing(1, right.capacity());
                case LARGER_LIMIT -> right.weighing(right.weight(), right.capacity() + 1);
                default -> right;
            };
        }

        @Override
        void onAdmitted() {
            super.onAdmitted();
            if (PoolBug.this == DEADLINE_BEGINS_ANEW_AT_THE_GATE) {
                handle(state -> {
                    Waiter waiter = state.firstWaiter();
                    if (waiter != null && waiter.timer != null) {
                        waiter.timer.cancel();
                        scheduleTimeout(waiter, waiter.waitNanos);
                    }
                });
            }
        }

        @Override
        public boolean onLeave(Waiter waiter, Waiter.State outcome, @Nullable LockException why) {
            boolean behind = asking != null && asking.sent == null;
            boolean isKept = PoolBug.this == NO_DEADLINE_BEHIND_THE_GATE && behind && outcome == Waiter.State.TIMED_OUT;
            return isKept || super.onLeave(waiter, outcome, why);
        }

        @Override
        public void reportLoss(ActiveLease lease, String why, boolean answered) {
            if (PoolBug.this == LOSS_IS_NOT_TOLD) {
                lease.lose(why);
            } else {
                super.reportLoss(lease, why, answered);
            }
        }
    }

    @SuppressWarnings("serial") // nobody writes it anywhere
    private final class WrongGroup extends ReadGroup {

        WrongGroup(PoolEngine pools, Pool pool, PoolRequest wanted) {
            super(pools, pool, wanted);
        }

        @Override
        boolean isOpenFor(Waiter waiter, Hold held) {
            boolean was = held.contended;
            held.contended &= PoolBug.this != READERS_JOIN_IN_FRONT_OF_A_WRITER;
            boolean open = super.isOpenFor(waiter, held);
            held.contended = was;
            return open;
        }

        @Override
        public void completeWaiter(Waiter waiter, ActiveLease lease) {
            lease.hold.contended &= PoolBug.this != WRITER_BEHIND_A_GRANT_IS_NOT_SEEN;
            super.completeWaiter(waiter, lease);
        }

        @Override
        public void onReleased(ActiveLease lease) {
            if (PoolBug.this == READ_HOLD_IS_RELEASED_WHILE_READ) {
                handle(state -> {
                    ActiveLease keeper = state.tenure.lease();
                    if (keeper != null) {
                        var unused = engine.store.release(ReleaseRequest.of(storedName(), keeper.holderId()));
                    }
                });
            }
            super.onReleased(lease);
        }

        @Override
        void sweep() {
            if (PoolBug.this != DEAD_READERS_ARE_RENEWED) {
                super.sweep();
            }
        }

        @Override
        public @Nullable RenewRequest onRenewalDue(Hold hold, ClockReading sent, boolean jumped) {
            RenewRequest right = super.onRenewalDue(hold, sent, jumped);
            return right == null || PoolBug.this != RENEWALS_DO_NOT_COUNT_WRITERS ? right : right.counted(false);
        }

        @Override
        public void reportLoss(ActiveLease lease, String why, boolean answered) {
            if (PoolBug.this == ONE_READER_IS_TOLD_OF_THE_LOSS) {
                if (lease.lose(why)) {
                    later(() -> lease.runLossCallbacks(engine.callbacks));
                }
                return;
            }
            List<Runnable> told =
                    PoolBug.this == A_READER_IS_TOLD_TWICE_OF_THE_LOSS ? List.copyOf(lease.lossCallbacks()) : List.of();
            super.reportLoss(lease, why, answered);
            later(() -> told.forEach(engine.callbacks::executeLoss));
        }
    }
}
