package io.holdfast.verify.engine;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClientClosedException;
import io.holdfast.LockOptions;
import io.holdfast.engine.VerifyEngine;
import io.holdfast.engine.VerifyEngine.OwnedShares;
import io.holdfast.spi.AcquireRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionStage;

/**
 * Those who read and write under one read-write lock: some by stages, some as threads, some as threads that own what
 * they lock. Those read again under their read lock, and under their write lock, and some die. A writer's token guards
 * a register.
 *
 * <p>That a writer excludes everybody is what {@link SimChecks} looks at. Here it is checked that in a calm history
 * nobody is granted a share before one who asked earlier; or much earlier, if the server tells no reader of writers.
 */
final class SimReaders {

    private static final int LIMIT = AcquireRequest.CAPACITY_MAX;

    /** Who asks so much later comes later: a message takes a millisecond. */
    private static final long ORDER_NANOS = 20_000_000;

    /** The same for readers who learn from the next renewal of their hold that a writer waits. */
    private static final long ORDER_BY_RENEWALS_NANOS = SimProcess.LEASE_MILLIS * 1_000_000 / 3 + 2 * ORDER_NANOS;

    private final Simulation simulation;
    private final SplittableRandom random;

    /** All shares that were asked for, in their order. */
    private final List<Share> shares = new ArrayList<>();

    private long reads;
    private long writes;

    SimReaders(Simulation simulation, SplittableRandom random) {
        this.simulation = simulation;
        this.random = random;
    }

    long reads() {
        return reads;
    }

    long writes() {
        return writes;
    }

    void addUsers(SimProcess process) {
        for (int i = 2 + random.nextInt(3); i > 0; i--) {
            new User(process).think();
        }
    }

    void scheduleFaults(SimFaults faults) {
        for (int i = simulation.calm ? 0 : random.nextInt(2); i > 0; i--) {
            simulation.world.schedule(
                    random.nextLong(SimPlan.BUSY_TIME.toNanos()), () -> faults.forceRelease(Simulation.READ_WRITE));
        }
    }

    /** Readers of a process that wait together are granted together: their wait began with the first of them. */
    private long beganTogether(Share granted) {
        long began = granted.began;
        for (int i = granted.isWrite ? -1 : shares.size() - 1; i >= 0; i--) {
            Share other = shares.get(i);
            if (!other.isWrite && other.process == granted.process && other.began < began && other.ended >= began) {
                began = other.began;
            }
        }
        return began;
    }

    private void checkOrder(Share granted) {
        long since = beganTogether(granted) - (simulation.hidesWriters ? ORDER_BY_RENEWALS_NANOS : ORDER_NANOS);
        for (Share other : shares) {
            if (other.began < since && other.isWaiting()) {
                // Its grant may be on the way.
                simulation.world.schedule(
                        ORDER_NANOS,
                        () -> other.require(
                                !other.isWaiting(), "was overtaken by " + granted.who + ", which asked later"));
            }
        }
    }

    /** One use, and what of it the order of all depends on. */
    private class Share extends SimShare {
        final boolean isWrite;
        private long ended = Long.MAX_VALUE;
        private long register = -1;

        Share(SimProcess process, LockOptions options, boolean isWrite, boolean isExtended, Runnable then) {
            super(
                    process,
                    SimReaders.this.simulation,
                    SimReaders.this.random,
                    Simulation.READ_WRITE,
                    isWrite ? "the write lock" : "a read lock",
                    options,
                    isWrite ? LIMIT : 1,
                    LIMIT,
                    isExtended,
                    then);
            this.isWrite = isWrite;
            shares.add(this);
        }

        /** One attempt does not wait. */
        final boolean isWaiting() {
            return ended == Long.MAX_VALUE
                    && process.isAlive()
                    && options.waitAtMost().filter(Duration::isZero).isEmpty();
        }

        @Override
        void onGranted(Lease lease) {
            ended = simulation.world.nanoTime();
            if (simulation.calm) {
                checkOrder(this);
            }
            if (isWrite) {
                writes++;
                register = recorder.read(who, name, lease.fencingToken());
            } else {
                reads++;
            }
        }

        @Override
        void onRefused() {
            ended = simulation.world.nanoTime();
        }

        @Override
        void release(Lease acquired, Lease lease) {
            // Without a look at the lease.
            if (register >= 0) {
                recorder.write(who, name, lease.fencingToken(), register + 1);
            }
            super.release(acquired, lease);
        }
    }

    /** Who reads or writes, and then does so again. */
    private final class User {
        private final SimProcess process;
        private final int kind = random.nextInt(3);

        User(SimProcess process) {
            this.process = process;
        }

        void think() {
            simulation.think(random, process, this::ask);
        }

        private void ask() {
            boolean isWrite = random.nextInt(4) == 0;
            LockOptions options = Simulation.randomOptions(random);
            // A reader extends the hold of all readers here, so in a calm history none does.
            boolean isExtended = random.nextInt(8) == 0 && (isWrite || !simulation.calm);
            if (kind == 2) {
                askAsOwner(options, isWrite, isExtended);
                return;
            }
            Share use = new Share(process, options, isWrite, isExtended, this::think);
            use.asked(kind == 0 ? "" : ", by a thread");
            if (kind == 0) {
                CompletionStage<Lease> stage = isWrite
                        ? process.client.acquireWriteAsync(simulation.readWrite(), options)
                        : process.client.acquireReadAsync(simulation.readWrite(), options);
                simulation.givesUp(
                        random, process, () -> stage.toCompletableFuture().cancel(false));
                stage.whenComplete(use::outcome);
                return;
            }
            try {
                SimThread waiting = new SimThread(
                        simulation,
                        process,
                        VerifyEngine.submitShare(process.client, simulation.readWrite(), isWrite, options),
                        use::outcome);
                simulation.givesUp(random, process, waiting::interrupt);
            } catch (LockClientClosedException e) {
                use.outcome(null, e);
            }
        }

        private void askAsOwner(LockOptions options, boolean isWrite, boolean isExtended) {
            OwnedShares owned = simulation.poolBug.shares(process.client, simulation.readWrite());
            Owner use = new Owner(this, owned, options, isWrite, isExtended);
            use.asked(", by the thread " + use.thread.getName());
            try {
                SimThread waiting =
                        new SimThread(simulation, process, owned.submit(isWrite, options, use.thread), use::outcome);
                simulation.givesUp(random, process, waiting::interrupt);
            } catch (LockClientClosedException e) {
                use.outcome(null, e);
            }
        }
    }

    /** One use by a thread that owns it. */
    private final class Owner extends Share {
        private final OwnedShares owned;
        private final Thread thread;
        private final boolean dies = random.nextInt(12) == 0;
        private final User user;

        /** How often it has read and written, and not ended that. */
        private int readHolds;

        private int writeHolds;

        Owner(User user, OwnedShares owned, LockOptions options, boolean isWrite, boolean isExtended) {
            super(user.process, options, isWrite, isExtended, user::think);
            this.user = user;
            this.owned = owned;
            this.thread = new Thread(() -> {}, who + "-owner");
        }

        @Override
        void onGranted(Lease lease) {
            super.onGranted(lease);
            readHolds = isWrite ? 0 : 1;
            writeHolds = isWrite ? 1 : 0;
            process.time.schedule(random.nextLong(100_000_000), () -> again(lease));
        }

        /** Reads under what it has; with the write lock it then gives up writing. */
        private void again(Lease lease) {
            if (readHolds + writeHolds == 0) {
                return;
            }
            boolean held = VerifyEngine.isHeld(lease);
            boolean entered = owned.enterAgain(false, thread);
            require(entered == held, held ? "was not let in to read again" : "was let in again after its loss");
            if (!entered) {
                return;
            }
            readHolds++;
            if (isWrite) {
                leave(lease, true);
                require(VerifyEngine.isHeld(lease), "has given its write lock back, although it reads under it");
            }
        }

        /** Returns false if the lease was lost. */
        private boolean leave(Lease lease, boolean write) {
            boolean held = VerifyEngine.isHeld(lease);
            Lease last;
            try {
                last = owned.leave(write, thread);
            } catch (LeaseLostException e) {
                require(!held, "was told of a loss that has not happened");
                return false;
            } catch (IllegalMonitorStateException e) {
                throw simulation.violation(who + " cannot unlock what it has locked");
            }
            if (write) {
                writeHolds--;
            } else {
                readHolds--;
            }
            if (last != null) {
                require(readHolds + writeHolds > 0 || last == lease, "has released another lease");
                last.releaseAsync().whenComplete((nothing, lost) -> {
                    if (readHolds + writeHolds == 0) {
                        ended(lost == null);
                    }
                });
            } else {
                require(readHolds + writeHolds > 0, "has left for the last time, and nothing is released");
            }
            return true;
        }

        @Override
        boolean isRenewed() {
            return !process.deadThreads.contains(thread) && super.isRenewed();
        }

        @Override
        void release(Lease acquired, Lease lease) {
            if (dies) {
                recorder.log("%s: %s dies without an unlock", who, thread.getName());
                process.deadThreads.add(thread);
                simulation.world.schedule(
                        SimChecks.NOTICED_NANOS,
                        () -> require(!VerifyEngine.isHeld(lease), "is dead, and its lease is renewed"));
                readHolds = 0;
                writeHolds = 0;
                user.think();
                return;
            }
            releasing(lease);
            boolean held = true;
            while (held && readHolds + writeHolds > 0) {
                held = leave(lease, writeHolds > 0);
            }
            if (!held) {
                // As finally does: once for each time that it has locked.
                readHolds = 0;
                writeHolds = 0;
                ended(false);
            }
        }
    }
}
