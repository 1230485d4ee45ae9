package io.holdfast.demo.scenes;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.testkit.HistoryRecorder;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** What a process of the demonstration can do. Thread-safe; requests are performed at the same time. */
final class WorkerTasks {

    /** A lease that is kept between two requests, and the visit to the shop that is made under it. */
    private record Held(
            Lease lease, HistoryRecorder.Use use, Shop.Visit visit, String section, AtomicBoolean lossTold) {}

    /** What is done under a lease. */
    private interface Work<T> {
        T under(Lease lease) throws Exception;
    }

    private static final long STEP_MILLIS = 50;

    private volatile String store = "";
    private volatile int shopPort;
    private volatile HistoryRecorder recorder = new HistoryRecorder();
    private final Map<Long, LockClient> clients = new ConcurrentHashMap<>();
    private final Map<Long, Held> held = new ConcurrentHashMap<>();
    private final AtomicLong handles = new AtomicLong();

    Message perform(Message request) throws Exception {
        return switch (request.verb()) {
            case "connect" -> connect(request);
            case "refund" -> refund(request);
            case "sell" -> sell(request);
            case "acquire" -> acquire(request);
            case "work" -> work(request);
            case "append" -> append(request);
            case "release" -> release(request);
            default -> throw new IllegalArgumentException("no such verb: " + request.verb());
        };
    }

    private Message connect(Message request) throws IOException {
        store = request.text("store");
        shopPort = request.count("shop");
        recorder = HistoryRecorder.toFile(request.text("process"), Path.of(request.text("history")));
        client(request.number("lease"));
        return Message.of("ok");
    }

    /** One client for each length of lease, opened on first use. */
    private LockClient client(long leaseMillis) {
        return clients.computeIfAbsent(
                leaseMillis,
                millis -> LockClient.builder()
                        .uri(store)
                        .leaseTime(Duration.ofMillis(millis))
                        .build());
    }

    private <T> T locked(Message request, Work<T> work) throws Exception {
        HistoryRecorder.Use use = recorder.ask(request.text("lock"), null);
        Lease lease = acquire(request, use);
        try {
            return work.under(lease);
        } finally {
            use.release(lease);
        }
    }

    private Lease acquire(Message request, HistoryRecorder.Use use) throws InterruptedException {
        boolean granted = false;
        try {
            Lease lease = client(request.number("lease")).acquire(request.text("lock"));
            granted = true;
            use.granted(lease);
            return lease;
        } finally {
            if (!granted) {
                use.refused("failed");
            }
        }
    }

    // --- refund: many requests for one order at the same time ---

    private Message refund(Message request) throws Exception {
        List<Boolean> refunded = atOnce(request.count("requests"), () -> refundOnce(request));
        long mine = refunded.stream().filter(done -> done).count();
        return Message.of("ok", "refunded", mine, "already", refunded.size() - mine);
    }

    /** @return false if the order had been refunded already */
    private boolean refundOnce(Message request) throws Exception {
        String order = request.text("order");
        try (Shop.Visit visit = new Shop.Visit(shopPort)) {
            return locked(request, lease -> {
                visit.ask("enter", "section", order, "token", lease.fencingToken());
                boolean first = visit.ask("read", "cell", order).number("value") == 0;
                if (first) {
                    visit.ask("record", "book", order, "entry", lease.fencingToken());
                    visit.ask("write", "cell", order, "value", 1);
                }
                visit.ask("leave", "section", order);
                return first;
            });
        }
    }

    // --- inventory: read the stock, write one less, hand over the item ---

    private Message sell(Message request) throws Exception {
        List<Long> sold = atOnce(request.count("threads"), () -> sellWhileStocked(request));
        return Message.of("ok", "sold", sold.stream().mapToLong(Long::longValue).sum());
    }

    private long sellWhileStocked(Message request) throws Exception {
        long end =
                System.nanoTime() + Duration.ofMillis(request.number("limit")).toNanos();
        long sold = 0;
        try (Shop.Visit visit = new Shop.Visit(shopPort)) {
            while (System.nanoTime() - end < 0) {
                String shelf = request.text("shelf");
                boolean one = request.has("lock")
                        ? locked(request, lease -> sellOne(visit, shelf, lease.fencingToken()))
                        : sellOne(visit, shelf, 0);
                if (!one) {
                    break;
                }
                sold++;
            }
        }
        return sold;
    }

    private static boolean sellOne(Shop.Visit visit, String shelf, long token) throws IOException {
        visit.ask("enter", "section", shelf, "token", token);
        long stock = visit.ask("read", "cell", shelf).number("value");
        if (stock > 0) {
            visit.ask("write", "cell", shelf, "value", stock - 1);
            visit.ask("record", "book", shelf, "entry", stock);
        }
        visit.ask("leave", "section", shelf);
        return stock > 0;
    }

    // --- the other scenes: a lease that the director of the play keeps in hand ---

    private Message acquire(Message request) throws Exception {
        HistoryRecorder.Use use = recorder.ask(request.text("lock"), null);
        Lease lease = acquire(request, use);
        AtomicBoolean lossTold = new AtomicBoolean();
        lease.onLost(() -> lossTold.set(true));
        String section = request.text("section");
        Shop.Visit visit = new Shop.Visit(shopPort);
        visit.ask("enter", "section", section, "token", lease.fencingToken());
        long handle = handles.incrementAndGet();
        held.put(handle, new Held(lease, use, visit, section, lossTold));
        return Message.of(
                "ok",
                "handle",
                handle,
                "token",
                lease.fencingToken(),
                "remaining",
                lease.remaining().toMillis());
    }

    /** Works for a time and looks at the lease all the while. */
    private Message work(Message request) throws InterruptedException {
        Held mine = mine(request);
        long end =
                System.nanoTime() + Duration.ofMillis(request.number("millis")).toNanos();
        boolean valid = true;
        while (System.nanoTime() - end < 0) {
            Thread.sleep(STEP_MILLIS);
            valid &= mine.use().look(mine.lease());
        }
        return Message.of("ok", "valid", valid);
    }

    /**
     * Appends to a ledger, after {@code millis} of preparation, as a careless program does: without a look at its
     * lease. Says what such a look at that moment would have told.
     */
    private Message append(Message request) throws Exception {
        Held mine = mine(request);
        Thread.sleep(request.number("millis"));
        boolean valid = mine.use().look(mine.lease());
        boolean refused = isLost(mine.lease());
        Message reply = mine.visit()
                .ask(
                        "append",
                        "ledger",
                        request.text("ledger"),
                        "token",
                        mine.lease().fencingToken(),
                        "line",
                        request.text("line"));
        return reply.with("valid", valid).with("ensure", refused ? "lost" : "valid");
    }

    private static boolean isLost(Lease lease) {
        try {
            lease.ensureValid();
            return false;
        } catch (LeaseLostException e) {
            return true;
        }
    }

    private Message release(Message request) throws Exception {
        Held mine = mine(request);
        boolean lost = false;
        mine.visit().ask("leave", "section", mine.section());
        try {
            mine.use().release(mine.lease());
        } catch (LeaseLostException e) {
            lost = true;
            // The callback runs on a thread of its own, and this process may have been stopped until just now.
            for (int i = 0; i < 20 && !mine.lossTold().get(); i++) {
                Thread.sleep(STEP_MILLIS);
            }
        }
        mine.visit().close();
        held.remove(request.number("handle"));
        return Message.of("ok", "lost", lost, "told", mine.lossTold().get());
    }

    private Held mine(Message request) {
        return Objects.requireNonNull(held.get(request.number("handle")), "handle");
    }

    private static <T> List<T> atOnce(int times, Callable<T> task) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(times);
        try {
            List<T> results = new ArrayList<>();
            for (Future<T> done : threads.invokeAll(Collections.nCopies(times, task))) {
                results.add(done.get());
            }
            return results;
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        } finally {
            threads.shutdownNow();
        }
    }
}
