package io.holdfast.verify.engine;

import static java.util.Objects.requireNonNull;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.MultiLease;
import io.holdfast.engine.VerifyEngine;
import io.holdfast.engine.VerifyEngine.OwnedLock;
import io.holdfast.engine.VerifyEngine.WaitingThread;
import io.holdfast.history.Event.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Those who ask for locks: three in each process. Some ask for two names at once, some extend their leases, and some are
 * threads that own what they lock.
 */
final class SimLocks {

    static final int USERS = 3;

    /** Who asks for locks in a process: for stages, as a thread, or as a thread that owns what it locks. */
    record User(
            SimProcess process, boolean thread, @Nullable SimOwner owner) {}

    private final Simulation simulation;
    private final SimRecorder recorder;
    private final SplittableRandom random;
    private final ReentryBug reentryBug;

    /** Decides about threads that own, apart from all else. */
    final SplittableRandom owners;

    /** Decides about groups of names, apart from all else. */
    private final SplittableRandom groups;

    /** Decides which leases are extended, apart from all else. */
    private final SplittableRandom extensions;

    /** Whether the threads of this history own what they lock, and lock it again. */
    private final boolean reentrant;

    /** Whether leases of this history are extended. */
    private final boolean extending;

    /** How often a lock was entered again, kept from another thread, and found lost by an unlock. */
    long nested;

    long refusedOthers;
    long toldOfLoss;

    /** How often the store confirmed another time of a lease. */
    long extended;

    SimLocks(Simulation simulation, ReentryBug reentryBug) {
        this.simulation = simulation;
        this.recorder = simulation.recorder;
        this.random = simulation.random;
        this.reentryBug = reentryBug;
        groups = new SplittableRandom(~simulation.seed);
        owners = new SplittableRandom(Long.reverse(simulation.seed));
        extensions = new SplittableRandom(~Long.reverse(simulation.seed));
        extending = extensions.nextInt(2) == 0;
        reentrant = owners.nextInt(2) == 0;
    }

    void addUsers(SimProcess process) {
        for (int i = 0; i < USERS; i++) {
            boolean thread = random.nextInt(3) == 0;
            if (thread && reentrant) {
                addOwner(process);
            } else {
                think(new User(process, thread, null));
            }
        }
    }

    void addOwner(SimProcess process) {
        think(new User(process, true, new SimOwner(this, simulation, process)));
    }

    OwnedLock lock(LockClient client, String name) {
        return reentryBug.lock(client, name);
    }

    private void think(User user) {
        simulation.think(random, user.process, () -> ask(user));
    }

    private void ask(User user) {
        // Not in a calm history: a user that waits for the second name keeps the first one without using it.
        if (!simulation.calm && !user.thread && groups.nextInt(8) == 0) {
            askTogether(user);
            return;
        }
        String name = Simulation.NAMES.get(random.nextInt(Simulation.NAMES.size()));
        Use use = ask(user, name, Simulation.randomOptions(random), () -> think(user));
        SimProcess process = user.process;
        if (user.owner != null) {
            user.owner.lock(use);
            givesUp(process, user.owner::interrupt);
        } else if (user.thread) {
            WaitingThread waiter = VerifyEngine.submit(process.client, name, use.options);
            givesUp(process, new SimThread(simulation, process, waiter, use::outcome)::interrupt);
        } else {
            CompletionStage<Lease> stage = process.client.acquireAsync(name, use.options);
            givesUp(process, () -> stage.toCompletableFuture().cancel(false));
            stage.whenComplete((lease, error) -> use.outcome(lease, error));
        }
    }

    /** @param then what the user does after it */
    Use ask(User user, String name, LockOptions options, Runnable then) {
        Use use = new Use(user, simulation.nextOperation(user.process), name, options, then);
        recorder.log("%s: wants %s, %s%s", use.who, name, options, user.thread ? ", by a thread" : "");
        recorder.asked(use.who, name, options, user.owner == null ? "" : user.owner.name(), use.isExtended);
        return use;
    }

    /** Two names, all or none: each counts as a use of its own that waits until both are there. */
    private void askTogether(User user) {
        int first = groups.nextInt(Simulation.NAMES.size());
        List<String> names =
                List.of(Simulation.NAMES.get(first), Simulation.NAMES.get((first + 1) % Simulation.NAMES.size()));
        LockOptions some = Simulation.randomOptions(random);
        // One attempt may be two, one for each name, where one of them is in use here.
        LockOptions options =
                some.waitAtMost().filter(Duration::isZero).isPresent() ? some.waitAtMost(Duration.ofSeconds(1)) : some;
        List<Use> uses = new ArrayList<>();
        for (String name : names) {
            // One of them continues after it.
            Runnable then = uses.isEmpty() ? () -> think(user) : () -> {};
            uses.add(ask(user, name, options, then));
        }
        recorder.log("%s: these together", uses.get(0).who);
        CompletionStage<MultiLease> stage = user.process.client.acquireAllAsync(names, options);
        givesUp(user.process, () -> stage.toCompletableFuture().cancel(false));
        stage.whenComplete((leases, error) -> {
            for (Use use : uses) {
                use.outcome(leases == null ? null : leases.lease(use.name), error);
            }
        });
    }

    private void givesUp(SimProcess process, Runnable how) {
        simulation.givesUp(random, process, how);
    }

    /** One use of a lock, from the asking to the release. */
    final class Use {
        final User user;
        final String who;
        final String name;
        final LockOptions options;
        private final SimProcess process;
        private final Runnable then;
        private final boolean isExtended;
        private final long began = simulation.world.nanoTime();
        private final long pausedBefore;

        private Use(User user, String who, String name, LockOptions options, Runnable then) {
            this.user = user;
            this.process = user.process;
            this.who = who;
            this.name = name;
            this.options = options;
            this.then = then;
            this.isExtended = extending && user.owner == null && extensions.nextInt(2) == 0;
            this.pausedBefore = process.pausedNanos;
            process.waits(isBrief());
        }

        private boolean isBrief() {
            return Simulation.isBrief(options);
        }

        void outcome(@Nullable Lease acquired, @Nullable Throwable error) {
            process.waitsNoLonger(isBrief());
            simulation.checks.waited(
                    process, who, options, simulation.world.nanoTime() - began - (process.pausedNanos - pausedBefore));
            if (acquired == null) {
                recorder.refused(who, requireNonNull(error));
                goOn();
                return;
            }
            Lease lease = VerifyEngine.active(acquired);
            recorder.log("%s: has %s, token %d", who, name, lease.fencingToken());
            recorder.event(Kind.GRANTED, who, "token", lease.fencingToken());
            simulation.checks.granted(process, who, name, lease, 1, 1, began);
            lease.onLost(() -> {
                recorder.log("%s: lost %s, token %d", who, name, lease.fencingToken());
                simulation.checks.ended(lease);
                recorder.event(Kind.LOST, who);
            });
            work(acquired, lease);
        }

        /** The timer refers to what the user has, so no collection of garbage decides what happens next. */
        private void work(Lease acquired, Lease lease) {
            long register = recorder.read(who, name, lease.fencingToken());
            long counter = recorder.readCounter(name);
            long length = random.nextInt(5) == 0 ? random.nextLong(3 * SimProcess.LEASE_MILLIS) : random.nextLong(100);
            // Without a look at the lease, and not waited for: the resource is at the end of a network, too.
            Runnable write = () -> travel(() -> {
                if (register >= 0) {
                    recorder.write(who, name, lease.fencingToken(), register + 1);
                }
                recorder.writeCounter(who, name, counter + 1);
            });
            if (user.owner != null) {
                user.owner.work(this, lease, length, write);
                return;
            }
            process.time.schedule(length * 1_000_000, () -> {
                write.run();
                release(acquired, lease);
            });
            for (int i = isExtended ? 1 + extensions.nextInt(3) : 0; i > 0; i--) {
                long at = extensions.nextLong(length * 1_000_000 + 1);
                Duration time = Duration.ofMillis(100 + extensions.nextLong(SimProcess.LEASE_MILLIS - 100));
                process.time.schedule(at, () -> extend(acquired, time));
            }
        }

        private void extend(Lease acquired, Duration time) {
            recorder.log("%s: extends %s to %s", who, name, time);
            acquired.extendAsync(time).whenComplete((nothing, error) -> {
                recorder.log("%s: extended %s to %s: %s", who, name, time, error == null ? "confirmed" : error);
                extended += error == null ? 1 : 0;
            });
        }

        private void travel(Runnable write) {
            if (random.nextInt(4) == 0) {
                simulation.world.schedule(random.nextLong(simulation.site.delayNanosMax()), write);
            } else {
                write.run();
            }
        }

        void goOn() {
            then.run();
        }

        private void release(Lease acquired, Lease lease) {
            recorder.log("%s: releases %s, token %d", who, name, lease.fencingToken());
            simulation.checks.ended(lease);
            recorder.event(Kind.RELEASE, who);
            acquired.releaseAsync().whenComplete((nothing, lost) -> {
                recorder.event(lost == null ? Kind.RELEASED : Kind.LOST, who);
                goOn();
            });
        }
    }
}
