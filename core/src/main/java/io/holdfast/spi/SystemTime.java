package io.holdfast.spi;

import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The JVM's clocks, and one daemon thread for all timers. The thread ends some seconds after its last timer, so that
 * the class loader of an application that was undeployed can go, and comes back with the next one.
 */
final class SystemTime implements TimeSource {

    private static final int IDLE_SECONDS = 5;

    static final SystemTime INSTANCE = new SystemTime();

    private static final System.Logger LOG = System.getLogger(SystemTime.class.getName());

    private final ScheduledThreadPoolExecutor timers;

    private SystemTime() {
        timers = new ScheduledThreadPoolExecutor(1, task -> DaemonThreads.unstarted("holdfast-timer", task));
        timers.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
        timers.allowCoreThreadTimeOut(true);
        // A cancelled timer must not keep its lock's state reachable until its time comes.
        timers.setRemoveOnCancelPolicy(true);
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public long wallMillis() {
        return System.currentTimeMillis();
    }

    @Override
    public Timer schedule(long delayNanos, Runnable task) {
        var scheduled = timers.schedule(() -> run(task), delayNanos, TimeUnit.NANOSECONDS);
        return () -> scheduled.cancel(false);
    }

    private static void run(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            LOG.log(System.Logger.Level.ERROR, "A timer task failed; this is a defect in Holdfast", e);
        }
    }
}
