package io.holdfast.testkit.torture;

import io.holdfast.history.Event;
import io.holdfast.history.Event.Kind;
import io.holdfast.testkit.torture.TortureLock.Grip;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A process of the torture: threads that use the locks at random and record what they see. It reads its settings from
 * standard input, one line, and ends when standard input is closed.
 *
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/verification.md#3-torture">Torture</a>
 */
public final class TortureWorker {

    private static final int LOCKS = 3;

    private static final int PERMITS = 5;

    /** What a writer weighs beside readers: there are never so many of those. */
    private static final int WRITER = 1_000;

    /**
     * The settings of a worker.
     *
     * @param uri the store; on standard input because the URI may contain a password
     * @param lease the length of leases that are renewed
     * @param shares whether permits and a read-write lock are used, too
     */
    public record Setup(
            String uri,
            Duration lease,
            String process,
            int port,
            String history,
            String prefix,
            int threads,
            boolean shares) {

        String line() {
            return String.join(
                    "\t",
                    uri,
                    Long.toString(lease.toMillis()),
                    process,
                    "" + port,
                    history,
                    prefix,
                    "" + threads,
                    "" + shares);
        }

        static Setup parse(String line) {
            List<String> words = List.of(line.split("\t", -1));
            return new Setup(
                    words.get(0),
                    Duration.ofMillis(Long.parseLong(words.get(1))),
                    words.get(2),
                    Integer.parseInt(words.get(3)),
                    words.get(4),
                    words.get(5),
                    Integer.parseInt(words.get(6)),
                    Boolean.parseBoolean(words.get(7)));
        }
    }

    private final Setup setup;
    private final TortureLock lock;
    private final Recorder recorder;
    private volatile boolean ending;

    private TortureWorker(Setup setup, TortureLock lock, Recorder recorder) {
        this.setup = setup;
        this.lock = lock;
        this.recorder = recorder;
    }

    /** Runs a worker; the main method of a worker process calls this. */
    public static void run(Function<Setup, TortureLock> opener) throws IOException, InterruptedException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Setup setup = Setup.parse(in.readLine());
        try (Recorder recorder = new Recorder(Path.of(setup.history()))) {
            TortureWorker worker = new TortureWorker(setup, opener.apply(setup), recorder);
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < setup.threads(); i++) {
                int number = i;
                Thread thread = new Thread(() -> worker.work(number), "torture-" + i);
                thread.start();
                threads.add(thread);
            }
            while (in.readLine() != null) {
                // only the end of the input has a meaning
            }
            worker.ending = true;
            for (Thread thread : threads) {
                thread.join();
            }
        }
        // Threads of drivers may be left.
        Runtime.getRuntime().halt(0);
    }

    private void work(int number) {
        Random random = new Random();
        try (TortureResource.Connection resource = new TortureResource.Connection(setup.port())) {
            for (long i = 0; !ending; i++) {
                use(setup.process() + "/" + number + "-" + i, random, resource);
                Thread.sleep(random.nextInt(100));
            }
        } catch (IOException | InterruptedException e) {
            // The torture has ended before this process.
        }
    }

    private void use(String who, Random random, TortureResource.Connection resource)
            throws IOException, InterruptedException {
        Duration wait = Duration.ofMillis(random.nextInt(5) == 0 ? 0 : random.nextInt(5_000));
        Duration lease = random.nextInt(5) == 0 ? Duration.ofMillis(500 + random.nextInt(2_000)) : null;
        switch (setup.shares() ? random.nextInt(4) : 0) {
            case 2 -> usePermits(who, random, wait, lease);
            case 3 -> {
                if (random.nextInt(3) == 0) {
                    write(who, random, wait, lease, resource);
                } else {
                    read(who, random, wait, lease);
                }
            }
            default -> {
                String name = setup.prefix() + random.nextInt(LOCKS);
                ask(who, name, wait, lease, List.of());
                add(who, name, acquire(who, () -> lock.acquire(name, wait, lease)), random, resource);
            }
        }
    }

    private void write(
            String who, Random random, Duration wait, @Nullable Duration lease, TortureResource.Connection resource)
            throws IOException, InterruptedException {
        String name = readWrite();
        ask(who, name, wait, lease, List.of("weight", WRITER, "capacity", WRITER));
        add(who, name, acquire(who, () -> lock.acquireShare(name, true, wait, lease)), random, resource);
    }

    /** Readers share what the store granted to one of them, so their tokens have no order. */
    private void read(String who, Random random, Duration wait, @Nullable Duration lease) throws InterruptedException {
        String name = readWrite();
        ask(who, name, wait, lease, List.of("weight", 1, "capacity", WRITER, "shared", true));
        watch(who, acquire(who, () -> lock.acquireShare(name, false, wait, lease)), random);
    }

    private String readWrite() {
        return setup.prefix() + "read-write";
    }

    /** Adds one to what the lease guards: to a register that compares tokens, and to a counter. */
    private void add(String who, String name, @Nullable Grip grip, Random random, TortureResource.Connection resource)
            throws IOException, InterruptedException {
        if (grip == null) {
            return;
        }
        look(who, grip);
        long register = grip.token() < 0 ? -1 : resource.ask("read", who, name, grip.token(), 0);
        long counter = resource.ask("look", who, name, 0, 0);
        stay(who, grip, random);
        // Does not look at the lease: a look could not exclude a pause just before the write.
        if (register >= 0) {
            resource.ask("write", who, name, grip.token(), register + 1);
        }
        resource.ask("count", who, name, 0, counter + 1);
        look(who, grip);
        release(who, grip);
    }

    /** Their tokens do not order permits, so none guards a register. */
    private void usePermits(String who, Random random, Duration wait, @Nullable Duration lease)
            throws InterruptedException {
        String name = setup.prefix() + "permits";
        // Now and then somebody has a lower limit, as in a roll-out.
        int limit = random.nextInt(8) == 0 ? PERMITS - 1 : PERMITS;
        int weight = random.nextInt(3) == 0 ? 1 + random.nextInt(limit) : 1;
        ask(who, name, wait, lease, List.of("weight", weight, "capacity", limit));
        watch(who, acquire(who, () -> lock.acquirePermits(name, weight, limit, wait, lease)), random);
    }

    /** Guards nothing: only the checker looks at the limit. */
    private void watch(String who, @Nullable Grip grip, Random random) throws InterruptedException {
        if (grip != null) {
            look(who, grip);
            stay(who, grip, random);
            look(who, grip);
            release(who, grip);
        }
    }

    private void ask(String who, String name, Duration wait, @Nullable Duration lease, List<Object> more) {
        List<Object> asked = new ArrayList<>(List.of("lock", name, "wait", wait.toNanos()));
        if (lease != null) {
            asked.addAll(List.of("lease", lease.toNanos()));
        }
        asked.addAll(more);
        record(Kind.ASK, who, asked.toArray());
    }

    /** A call of the lock, which waits. */
    private interface Acquisition {
        Optional<Grip> acquire() throws InterruptedException;
    }

    private @Nullable Grip acquire(String who, Acquisition acquisition) throws InterruptedException {
        try {
            Optional<Grip> grip = acquisition.acquire();
            if (grip.isEmpty()) {
                record(Kind.REFUSED, who, "why", "timeout");
                return null;
            }
            record(Kind.GRANTED, who, "token", grip.get().token());
            return grip.get();
        } catch (RuntimeException e) {
            record(Kind.REFUSED, who, "why", "failed", "error", String.valueOf(e.getMessage()));
            return null;
        }
    }

    /** Mostly short; now and then so long that the lease must be renewed, or ends. */
    private void stay(String who, Grip grip, Random random) throws InterruptedException {
        int looks = random.nextInt(20) == 0 ? random.nextInt(200) : random.nextInt(3);
        for (int i = 0; i < looks; i++) {
            Thread.sleep(20);
            look(who, grip);
        }
    }

    private void look(String who, Grip grip) {
        long before = System.nanoTime();
        try {
            if (grip.isValid()) {
                recorder.record(Event.of(before, Kind.VALID, who));
            }
        } catch (RuntimeException e) {
            // Not known to be valid.
        }
    }

    private void release(String who, Grip grip) {
        record(Kind.RELEASE, who);
        boolean confirmed = false;
        try {
            confirmed = grip.release();
        } catch (RuntimeException e) {
            // Lost, or nobody knows.
        }
        record(confirmed ? Kind.RELEASED : Kind.LOST, who);
    }

    private void record(Kind kind, String who, Object... details) {
        recorder.record(Event.of(System.nanoTime(), kind, who, details));
    }
}
