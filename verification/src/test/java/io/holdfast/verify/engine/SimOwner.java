package io.holdfast.verify.engine;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClientClosedException;
import io.holdfast.LockOptions;
import io.holdfast.engine.VerifyEngine;
import io.holdfast.engine.VerifyEngine.OwnedLock;
import io.holdfast.engine.VerifyEngine.WaitingThread;
import io.holdfast.history.Event.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * A simulated thread that owns what it locks, and locks it again. It takes the steps of a thread lock as a real one
 * does that calls its methods. What each step must answer is known here: the answer is compared with that, and recorded
 * for the checker.
 */
final class SimOwner {

    private static final int DEPTH_MAX = 5;

    /** So many leases on one name may a thread have had and lost, each while it used the one before. */
    private static final int FRAMES_MAX = 3;

    private final SimLocks locks;
    private final Simulation simulation;
    private final SimRecorder recorder;
    private final SimProcess process;

    /** Decides about reentrant use, apart from all else. */
    private final SplittableRandom random;

    /** Never started: it is who owns. */
    private final Thread thread;

    private boolean interrupted;
    private boolean interruptibly;
    private @Nullable SimThread waiting;
    private int frames;

    SimOwner(SimLocks locks, Simulation simulation, SimProcess process) {
        this.locks = locks;
        this.simulation = simulation;
        this.recorder = simulation.recorder;
        this.process = process;
        this.random = locks.owners;
        this.thread = new Thread(() -> {}, process.id + "-t" + process.owners.size());
        process.owners.add(this);
    }

    String name() {
        return thread.getName();
    }

    /** As {@code lock()}, {@code lockInterruptibly()} and {@code tryLock(…)} do, where it holds nothing. */
    void lock(SimLocks.Use use) {
        interruptibly = random.nextInt(3) > 0;
        if (wasInterrupted()) {
            use.outcome(null, new InterruptedException());
            return;
        }
        OwnedLock lock = lockOf(use.name);
        require(!lock.enterAgain(thread), "was let in without a lease of its own");
        try {
            WaitingThread waiter = lock.submit(use.options, thread);
            waiting = new SimThread(simulation, process, waiter, (lease, why) -> {
                waiting = null;
                use.outcome(lease, why);
            });
        } catch (LockClientClosedException e) {
            use.outcome(null, e);
        }
    }

    /** At any moment: it may wait, or work, or be about to lock again. */
    void interrupt() {
        SimThread parked = waiting;
        interrupted = parked == null || !interruptibly || !parked.interrupt();
    }

    /** Whether the next call is one that ends by an earlier interrupt. */
    private boolean wasInterrupted() {
        boolean was = interruptibly && interrupted;
        interrupted &= !was;
        return was;
    }

    /** Uses a lease that it was granted. */
    void work(SimLocks.Use use, Lease lease, long millis, Runnable write) {
        frames++;
        new Frame(use, lease, millis, write).look();
    }

    private OwnedLock lockOf(String name) {
        return locks.lock(process.client, name);
    }

    private void require(boolean expected, String what) {
        if (!expected) {
            throw simulation.violation(name() + " " + what);
        }
    }

    /** What one lease is used for, from its grant to the last unlock. */
    private final class Frame {
        private final SimLocks.Use use;
        private final Lease lease;
        private final OwnedLock lock;
        private final Runnable write;
        private final long token;
        private final long pauseNanos;
        private int steps = random.nextInt(8);
        private int depth = 1;

        Frame(SimLocks.Use use, Lease lease, long millis, Runnable write) {
            this.use = use;
            this.lease = lease;
            this.lock = lockOf(use.name);
            this.write = write;
            this.token = lease.fencingToken();
            this.pauseNanos = millis * 1_000_000 / (steps + 1);
            later(pauseNanos, this::step);
        }

        private void later(long nanos, Runnable what) {
            process.time.schedule(nanos, what);
        }

        private void step() {
            look();
            if (steps-- <= 0) {
                write.run();
                unwind();
                return;
            }
            int what = random.nextInt(64);
            if (what == 0) {
                die();
                return;
            }
            if (what < 8) {
                others();
            } else if (depth > 1 && (what < 16 || depth == DEPTH_MAX)) {
                unlock();
            } else if (!again()) {
                return;
            }
            later(pauseNanos, this::step);
        }

        /** The lock says of its owner what is true. */
        private void look() {
            boolean held = VerifyEngine.isHeld(lease);
            if (held) {
                Lease mine = lock.ownedBy(thread);
                require(mine == lease, "holds what it does not own: " + use.who);
                require(VerifyEngine.count(lease) == depth, counted(VerifyEngine.count(lease)));
            }
            if (random.nextBoolean()) {
                int count = lock.holdCount(thread);
                require(count == (held ? depth : 0), counted(count));
            }
        }

        private String counted(int count) {
            return "has " + use.name + " " + count + " times, and locked it " + depth + " times: " + use.who;
        }

        /** False if it waits for another lease now, and continues after that. */
        private boolean again() {
            interruptibly = random.nextBoolean();
            if (wasInterrupted()) {
                recorder.log("%s: %s is interrupted, and does not lock again", use.who, name());
                steps = 0;
                look();
                return true;
            }
            boolean held = VerifyEngine.isHeld(lease);
            if (lock.enterAgain(thread)) {
                require(held, "was let in again after its lease was over: " + use.who);
                depth++;
                long now = lock.fencingToken(thread);
                recorder.log("%s: %s has %s %d times, token %d", use.who, name(), use.name, depth, now);
                recorder.event(Kind.AGAIN, use.who, owned("token", now));
                locks.nested++;
                require(now == token, "locked again and has token " + now + " instead of " + token);
                look();
                return true;
            }
            require(!held, "was not let in again: " + use.who);
            if (frames == FRAMES_MAX || !simulation.isBusy(process)) {
                steps = 0;
                return true;
            }
            contend();
            return false;
        }

        /** It has lost its lease and locks again: then it contends like any other, and has two leases to unlock. */
        private void contend() {
            LockOptions options = LockOptions.defaults();
            int kind = random.nextInt(4);
            if (kind < 3) {
                options = options.waitAtMost(Duration.ofMillis(kind == 0 ? 0 : random.nextLong(3_000)));
            }
            if (random.nextInt(3) == 0) {
                options = options.leaseFor(Duration.ofMillis(100 + random.nextLong(500)));
            }
            steps = 0;
            SimOwner.this.lock(locks.ask(use.user, use.name, options, () -> later(pauseNanos, this::step)));
            if (waiting != null && random.nextInt(6) == 0) {
                later(random.nextLong(500_000_000), SimOwner.this::interrupt);
            }
        }

        /** Who does not own it is neither let in nor unlocks. */
        private void others() {
            List<Thread> idle = new ArrayList<>(List.of(process.stranger));
            // One that waits may have been granted the lock, and not know it yet.
            process.owners.stream()
                    .filter(owner -> owner.frames == 0 && owner.waiting == null)
                    .forEach(owner -> idle.add(owner.thread));
            Thread other = idle.get(random.nextInt(idle.size()));
            String who = other.getName() + ", which owns nothing,";
            require(lock.holdCount(other) == 0, "has a lock that is counted for " + who);
            require(!lock.enterAgain(other), "has a lock into which " + who + " was let");
            require(isRefused(() -> lock.fencingToken(other)), "has a lock whose token was shown to " + who);
            require(isRefused(() -> lock.leave(other)), "has a lock that was unlocked by " + who);
            locks.refusedOthers++;
            look();
        }

        /** In turn, as {@code finally} does. */
        private void unwind() {
            boolean last = depth == 1;
            unlock();
            if (!last) {
                later(random.nextLong(1_000_000), this::unwind);
            }
        }

        private void unlock() {
            boolean last = depth == 1;
            if (last) {
                simulation.checks.ended(lease);
                recorder.log("%s: releases %s, token %d", use.who, use.name, token);
                recorder.event(Kind.RELEASE, use.who);
            }
            boolean held = VerifyEngine.isHeld(lease);
            depth--;
            Lease toRelease;
            try {
                toRelease = lock.leave(thread);
            } catch (LeaseLostException e) {
                require(!held, "had an exception for a loss that has not happened: " + use.who);
                recorder.event(Kind.LOST, use.who);
                locks.toldOfLoss++;
                if (last) {
                    over();
                }
                return;
            } catch (IllegalMonitorStateException e) {
                throw simulation.violation(name() + " cannot unlock what it has locked: " + use.who);
            }
            if (last) {
                require(toRelease == lease, "has unlocked for the last time, and nothing is released: " + use.who);
                release(held);
            } else {
                require(held, "was not told that its lease was lost: " + use.who);
                require(toRelease == null, "has released what it has locked " + depth + " times more: " + use.who);
                recorder.event(Kind.UNLOCKED, use.who, owned());
                look();
            }
        }

        private void release(boolean held) {
            lease.releaseAsync().whenComplete((nothing, lost) -> {
                require(held || lost != null, "was not told that its lease was lost: " + use.who);
                recorder.event(lost == null ? Kind.RELEASED : Kind.LOST, use.who);
                over();
            });
            require(
                    VerifyEngine.hasEnded(lease) && lock.ownedBy(thread) == null,
                    "holds what it has released: " + use.who);
        }

        private void over() {
            frames--;
            if (frames == 0 && random.nextInt(4) == 0) {
                require(isRefused(() -> lock.leave(thread)), "has unlocked once too often: " + use.who);
            }
            use.goOn();
        }

        /** It ends without unlocking: then its lease is not renewed any more. */
        private void die() {
            recorder.log("%s: %s dies without unlocking %s", use.who, name(), use.name);
            process.deadThreads.add(thread);
            simulation.world.schedule(
                    SimChecks.NOTICED_NANOS,
                    () -> require(!VerifyEngine.isHeld(lease), "is dead, and its lease is renewed: " + use.who));
            locks.addOwner(process);
        }

        /** Details of an event, as the lock tells them. */
        private Object[] owned(Object... more) {
            List<Object> details = new ArrayList<>(List.of(more));
            details.addAll(List.of("owner", name()));
            int count = lock.holdCount(thread);
            // A count of zero says that the lease has ended since.
            if (count > 0) {
                details.addAll(List.of("depth", count));
            }
            return details.toArray();
        }
    }

    private static boolean isRefused(Runnable call) {
        try {
            call.run();
            return false;
        } catch (IllegalMonitorStateException e) {
            return true;
        } catch (LeaseLostException e) {
            return false; // of somebody else's lease
        }
    }
}
