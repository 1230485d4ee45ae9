package io.holdfast.verify.zookeeper;

import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreListener;
import io.holdfast.zookeeper.VerifyZooKeeper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One random history of clients that want shares of one pool: the real store over a simulated ensemble, with cuts,
 * crashes, processes that die, and requests for several capacities at once. Checked at each grant:
 *
 * <ul>
 *   <li>What the valid holds weigh together is at most the capacity of the youngest of them. A hold is valid for as long
 *       as its client was promised.
 *   <li>At the servers, the node is one of those that hold: so no waiter was overtaken.
 * </ul>
 *
 * <p>In a calm history, a waiter also receives its grant soon after it can hold. In every history, when all is well
 * again and nobody asks any more, all waiters are served and nothing is left.
 */
final class PoolHistory {

    private static final String NAME = "p:x";
    private static final int POLL_MILLIS = 1_000;
    private static final long LEASE_MILLIS = 30_000;
    private static final int ACTIVE_MILLIS = 12_000;
    private static final int REST_MILLIS = 20_000;

    /** Much more than a few messages take, and less than the polls of a waiter that no message reaches. */
    private static final long SOON_NANOS = Duration.ofMillis(400).toNanos();

    private final VirtualTime world = new VirtualTime();
    private final SplittableRandom random;
    private final EnsembleBug bug;
    private final boolean calm;
    private final SimEnsemble.Shape shape;
    private final SimEnsemble servers;
    private final int[] capacities;
    private final List<Caller> processes = new ArrayList<>();
    private final List<Share> valid = new ArrayList<>();
    private boolean over;
    private int born;

    /** The first rule that was broken: a stage keeps what its dependents throw. */
    private @Nullable AssertionError broken;

    int granted;
    int lost;
    int overdue;

    PoolHistory(long seed, EnsembleBug bug) {
        this.random = new SplittableRandom(seed);
        this.bug = bug;
        calm = seed % 3 == 0;
        shape = new SimEnsemble.Shape(
                3,
                100,
                calm ? 2_000 : new int[] {400, 800, 2_000}[random.nextInt(3)],
                calm ? 1_000_000 : new long[] {1, 5, 40}[random.nextInt(3)] * 1_000_000,
                calm ? 500_000 : new long[] {1, 5}[random.nextInt(2)] * 1_000_000,
                calm ? 0 : new double[] {0, 0.005, 0.03}[random.nextInt(3)],
                calm ? 0 : new double[] {0, 0.05}[random.nextInt(2)],
                new long[] {50, 500, 5_000}[random.nextInt(3)] * 1_000_000);
        servers = new SimEnsemble(world, random.split(), shape);
        if (!calm && seed % 4 == 1) {
            servers.numberFoldersFrom((int) (VerifyZooKeeper.LIMIT - 5 - random.nextInt(40)));
        }
        int capacity = 1 + random.nextInt(6);
        capacities = random.nextInt(3) == 0
                ? new int[] {capacity, 1 + random.nextInt(6), AcquireRequest.CAPACITY_MAX}
                : new int[] {capacity};
    }

    /** @throws AssertionError if a rule is broken */
    void run() {
        int clients = 2 + random.nextInt(3);
        for (int i = 0; i < clients; i++) {
            new Caller();
        }
        if (calm) {
            watchCalm(new HashMap<>());
        } else {
            for (int i = random.nextInt(24); i > 0; i--) {
                world.schedule(millis(ACTIVE_MILLIS), this::harm);
            }
        }
        play(ACTIVE_MILLIS);
        over = true;
        servers.heal();
        play(REST_MILLIS);
        for (Caller process : processes) {
            if (!process.dead) {
                check(process.client.left().isEmpty(), () -> "left: " + process.client.left() + ", " + line());
            }
        }
        check(queue().isEmpty(), () -> "left at the servers: " + line());
        play(1);
    }

    private void play(int millis) {
        for (int i = 0; i < millis; i++) {
            world.advance(Duration.ofMillis(1));
            if (broken != null) {
                throw broken;
            }
        }
    }

    private long millis(int most) {
        return (1 + random.nextLong(most)) * 1_000_000;
    }

    private void check(boolean holds, Supplier<String> what) {
        if (!holds && broken == null) {
            broken = new AssertionError(what.get() + " at " + world.nanoTime() / 1_000_000 + " ms");
        }
    }

    private VerifyZooKeeper.Queue queue() {
        return servers.pool(NAME);
    }

    private String line() {
        VerifyZooKeeper.Queue queue = queue();
        List<String> nodes = new ArrayList<>();
        for (int i = 0; i < queue.size(); i++) {
            nodes.add(queue.node(i));
        }
        return queue.holders() + " of " + nodes;
    }

    private void harm() {
        Caller process = processes.get(random.nextInt(processes.size()));
        int server = random.nextInt(shape.servers());
        switch (random.nextInt(7)) {
            case 0 -> servers.crash(server, millis(2_000), random.nextBoolean());
            case 1 -> servers.stop(server, millis(2_000));
            case 2 -> servers.cutOffFromServers(server, millis(2_000));
            case 3 -> servers.cutOff(process.client, server, millis(2_000));
            case 4 -> servers.cutOff(process.client, millis(3 * shape.sessionMillis()));
            case 5 -> process.loseServerAfterNextWrite();
            default -> {
                if (!process.dead) {
                    process.die();
                    new Caller();
                }
            }
        }
    }

    /** Whoever can hold has to hear of it without a poll. */
    private void watchCalm(Map<String, Long> since) {
        VerifyZooKeeper.Queue queue = queue();
        Map<String, Long> now = new HashMap<>();
        for (int i = 0; i < queue.holders(); i++) {
            String holderId = queue.holder(i);
            long from = since.getOrDefault(holderId, world.nanoTime());
            now.put(holderId, from);
            boolean waits = processes.stream().anyMatch(process -> process.waiting.containsKey(holderId));
            check(
                    !waits || world.nanoTime() - from < SOON_NANOS,
                    () -> holderId + " can hold, and has not heard of it: " + line());
        }
        world.schedule(20_000_000, () -> watchCalm(now));
    }

    /** A client's process, whose few threads each want a share, again and again. */
    private final class Caller implements StoreListener {
        final String id = "c" + ++born;
        final SimClient client = servers.connect(id, world, this::deliver, 500, bug);
        final LockStore pool = client.store().pools().orElseThrow();
        final Map<String, Share> waiting = new HashMap<>();
        final Map<String, Share> holding = new HashMap<>();
        boolean dead;
        private int shares;

        Caller() {
            client.store().listen(new Deaf());
            pool.listen(this);
            processes.add(this);
            for (int i = 1 + random.nextInt(4); i > 0; i--) {
                later(300, this::begin);
            }
        }

        private void deliver(Runnable event) {
            if (!dead) {
                event.run();
            }
        }

        void later(int most, Runnable task) {
            world.schedule(millis(most), () -> deliver(task));
        }

        private void begin() {
            if (!over) {
                int capacity = capacities[random.nextInt(capacities.length)];
                int weight = random.nextInt(3) == 0 ? 1 + random.nextInt(Math.min(capacity, 6)) : 1;
                boolean writer = random.nextInt(4) == 0;
                new Share(this, newId(), writer ? capacity : weight, capacity, random.nextInt(4) > 0).ask();
            }
        }

        String newId() {
            return id + ":" + ++shares;
        }

        void loseServerAfterNextWrite() {
            client.afterNextWrite(() -> {
                int server = client.server();
                if (server >= 0) {
                    long length = (shape.sessionMillis() + 500) * 1_000_000L;
                    servers.cutOff(client, length);
                    servers.crash(server, length, true);
                }
            });
        }

        void die() {
            dead = true;
            client.die(random.nextBoolean());
            valid.removeIf(share -> share.process == this);
        }

        @Override
        public void granted(String name, String holderId) {
            Share share = waiting.get(holderId);
            if (share != null) {
                share.ask();
            }
        }

        @Override
        public void contended(String name, String holderId) {}

        @Override
        public void released(String name) {}

        @Override
        public void lost(String name, String holderId) {
            Share share = holding.remove(holderId);
            if (share != null) {
                lost++;
                valid.remove(share);
                share.withdraw();
            }
        }

        @Override
        public void reconnected() {
            List.copyOf(waiting.values()).forEach(Share::ask);
        }
    }

    /** A share that somebody wants, has, or gives back. */
    private final class Share {
        private final Caller process;
        private final String holderId;
        private final int weight;
        private final int capacity;
        private final boolean queues;
        private final long patienceNanos = world.nanoTime() + millis(6_000);
        private boolean asking;
        private boolean ended;
        private long base;
        private long endNanos;

        Share(Caller process, String holderId, int weight, int capacity, boolean queues) {
            this.process = process;
            this.holderId = holderId;
            this.weight = weight;
            this.capacity = capacity;
            this.queues = queues;
            process.waiting.put(holderId, this);
        }

        private AcquireRequest request() {
            AcquireRequest request = queues
                    ? AcquireRequest.queueing(NAME, holderId, LEASE_MILLIS, POLL_MILLIS)
                    : AcquireRequest.once(NAME, holderId, LEASE_MILLIS);
            return request.weighing(weight, capacity);
        }

        void ask() {
            if (asking || !process.waiting.containsKey(holderId)) {
                return;
            }
            asking = true;
            long sent = world.nanoTime();
            process.pool.acquire(request()).whenComplete((reply, error) -> answered(sent, reply));
        }

        private void answered(long sent, @Nullable AcquireReply reply) {
            asking = false;
            if (process.dead || !process.waiting.containsKey(holderId)) {
                return;
            }
            if (reply instanceof Granted grant) {
                process.waiting.remove(holderId);
                base = grant.base();
                hold(promised(sent, Math.min(LEASE_MILLIS, grant.atMostMillis())));
            } else if ((reply == null || queues) && world.nanoTime() < patienceNanos) {
                process.later(POLL_MILLIS, this::ask);
            } else {
                process.waiting.remove(holderId);
                withdraw();
                process.later(200, process::begin);
            }
        }

        /** As the engine does. */
        private long promised(long sent, long millis) {
            return sent + millis * 990_000 - 2_000_000;
        }

        private void hold(long until) {
            if (until <= world.nanoTime()) {
                overdue++;
                withdraw();
                process.later(200, process::begin);
                return;
            }
            granted++;
            endNanos = until;
            process.holding.put(holderId, this);
            valid.removeIf(share -> share.endNanos <= world.nanoTime());
            valid.add(this);
            Share youngest = valid.stream()
                    .max(Comparator.comparingLong(share -> share.base))
                    .orElseThrow();
            int used = valid.stream().mapToInt(share -> share.weight).sum();
            check(used <= youngest.capacity, () -> used + " are held of " + youngest.capacity + ": " + valid);
            VerifyZooKeeper.Queue queue = queue();
            boolean holds = false;
            for (int i = 0; i < queue.holders(); i++) {
                holds |= queue.holder(i).equals(holderId);
            }
            check(holds, () -> this + " was granted, and does not hold at the servers: " + line());
            renewLater(until);
            int length = random.nextInt(5) == 0 ? 2_000 : 150;
            process.later(length, this::end);
        }

        private void renewLater(long until) {
            long third = Math.max(1_000_000, (until - world.nanoTime()) / 3);
            world.schedule(third, () -> {
                if (!process.dead && !ended && process.holding.containsKey(holderId)) {
                    long sent = world.nanoTime();
                    process.pool
                            .renew(RenewRequest.extend(NAME, holderId, LEASE_MILLIS, 0))
                            .whenComplete((reply, error) -> renewed(sent, reply));
                }
            });
        }

        private void renewed(long sent, @Nullable RenewReply reply) {
            if (process.dead || ended) {
                return;
            }
            if (reply instanceof RenewReply.Renewed renewed && world.nanoTime() < endNanos) {
                endNanos = Math.max(endNanos, promised(sent, Math.min(LEASE_MILLIS, renewed.atMostMillis())));
                renewLater(endNanos);
            } else if (world.nanoTime() < endNanos && !(reply instanceof RenewReply.Gone)) {
                renewLater(endNanos);
            } else {
                valid.remove(this);
            }
        }

        private void end() {
            if (ended || process.holding.remove(holderId) == null) {
                return;
            }
            ended = true;
            valid.remove(this);
            if (over || random.nextInt(3) > 0) {
                process.pool.release(ReleaseRequest.of(NAME, holderId)).whenComplete((reply, error) -> {
                    if (error != null) {
                        withdraw();
                    }
                });
                process.later(200, process::begin);
                return;
            }
            Share next = new Share(process, process.newId(), weight, capacity, true);
            next.asking = true;
            long sent = world.nanoTime();
            process.pool
                    .release(ReleaseRequest.requeueing(NAME, holderId, next.request()))
                    .whenComplete((reply, error) -> next.requeued(this, sent, reply));
        }

        private void requeued(Share before, long sent, @Nullable ReleaseReply reply) {
            if (reply == null) {
                before.withdraw();
            }
            answered(sent, reply == null ? null : reply.requeued());
        }

        /** Until that is answered, as the engine does. */
        void withdraw() {
            ended = true;
            process.pool.abandon(NAME, holderId).whenComplete((held, error) -> {
                if (error != null) {
                    process.later(500, this::withdraw);
                }
            });
        }

        @Override
        public String toString() {
            return holderId + " (" + weight + " of " + capacity + ", base " + base + ")";
        }
    }

    /** The locks of the clients are not used. */
    private static final class Deaf implements StoreListener {
        @Override
        public void granted(String name, String holderId) {}

        @Override
        public void contended(String name, String holderId) {}

        @Override
        public void released(String name) {}

        @Override
        public void reconnected() {}
    }
}
