package io.holdfast.bench.agent;

import io.holdfast.bench.peer.Handle;
import java.lang.reflect.InvocationTargetException;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One pair by each of many virtual threads on few names. Order: {@code threads}, {@code names}, {@code name}, {@code
 * limit} in seconds.
 */
final class VirtualThreadsTask implements Task {

    @Override
    public Map<String, Double> run(Handle handle, Message order) throws Exception {
        int threads = order.count("threads");
        int names = order.count("names");
        Inside[] inside = new Inside[names];
        for (int i = 0; i < names; i++) {
            inside[i] = new Inside(1);
        }
        AtomicInteger failed = new AtomicInteger();
        CountDownLatch done = new CountDownLatch(threads);
        long before = System.nanoTime();
        for (int i = 0; i < threads; i++) {
            int index = i % names;
            String name = order.text("name") + "-" + index;
            startVirtual(() -> {
                try {
                    handle.lock(name);
                    inside[index].enter();
                    inside[index].leave();
                    handle.unlock(name);
                } catch (Exception e) {
                    failed.incrementAndGet();
                } finally {
                    done.countDown();
                }
            });
        }
        boolean all = done.await(order.number("limit"), TimeUnit.SECONDS);
        double violations = 0;
        for (Inside one : inside) {
            violations += one.violations();
        }
        return Map.of(
                "seconds",
                (System.nanoTime() - before) / 1e9,
                "completed",
                (double) (threads - done.getCount() - failed.get()),
                "inTime",
                all && failed.get() == 0 ? 1.0 : 0.0,
                "violations",
                violations);
    }

    /** Calls {@code Thread.startVirtualThread} by reflection, because this module's Java level lacks it. */
    private static void startVirtual(Runnable body) {
        try {
            Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, body);
        } catch (NoSuchMethodException | IllegalAccessException e) {
            throw new UnsupportedOperationException("virtual threads need Java 21", e);
        } catch (InvocationTargetException e) {
            throw new IllegalStateException(e.getCause());
        }
    }
}
