package io.holdfast.demo.scenes;

import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** The holder is killed: its lease runs out, and a waiter gets the lock. */
final class CrashScene implements Scene {

    /** Sooner than one more lease would have ended. */
    private static final long LATE_MILLIS = Stage.SHORT_LEASE - 1_000;

    /** More than a tick of ZooKeeper, which is 2 s by default. */
    private static final long LATE_MILLIS_INEXACT = 4_500;

    private static final String SECTION = "crash";

    @Override
    public String name() {
        return "crash";
    }

    @Override
    public String title() {
        return "the lock outlives a killed holder by its lease and no longer";
    }

    @Override
    public void play(Stage stage, Verdict verdict) throws Exception {
        List<WorkerProcess> workers = stage.crew().all();
        // The last one: the scenes after this one play with those before it.
        WorkerProcess victim = workers.get(workers.size() - 1);
        WorkerProcess other = workers.get(0);
        String lock = stage.lock("crash");
        stage.line().step("the holder is killed by SIGKILL, another process waits");

        long begun = System.nanoTime();
        Message first = stage.await(acquire(victim, lock), () -> "the first takes the lock");
        CompletableFuture<Message> second = acquire(other, lock);
        stage.awaitWaiter(lock, () -> "the other comes to wait");
        stage.histories().dies(victim);
        victim.kill();
        while (victim.isAlive()) {
            Thread.sleep(1);
        }
        boolean held = !second.isDone();
        long end = stage.leaseEndNanos(lock);
        Message next = stage.await(
                second,
                () -> String.format(
                        Locale.ROOT, "the lease has %.1f s left", Math.max(0, end - System.nanoTime()) / 1e9));
        long acquired = System.nanoTime();
        long lateMillis = Math.floorDiv(acquired - end, 1_000_000);
        // What the victim was promised when it began; it may have been promised more since.
        boolean asPromised = acquired - begun >= TimeUnit.MILLISECONDS.toNanos(first.number("remaining"));
        long mostLate = stage.exactEnds() ? LATE_MILLIS : LATE_MILLIS_INEXACT;
        stage.await(other.ask("release", "handle", next.text("handle")), () -> "done");

        boolean larger = next.number("token") > first.number("token");
        verdict.number("leaseMillis", Stage.SHORT_LEASE);
        verdict.number("acquiredMillisAfterLeaseEnd", lateMillis);
        verdict.number("tokenOfKilled", first.number("token"));
        verdict.number("tokenOfNext", next.number("token"));
        verdict.happened("holder killed; the waiter had the lock " + lateMillis
                + " ms after the lease ended, with a larger token");
        verdict.check(
                "the lock stays locked until the lease ends",
                held && asPromised && (lateMillis >= 0 || !stage.exactEnds()),
                lateMillis + " ms after");
        verdict.check("a waiter has it at most " + mostLate + " ms later", lateMillis <= mostLate, lateMillis + " ms");
        verdict.check("with a larger fencing token", larger, first.text("token") + ", then " + next.text("token"));
        verdict.checkSection(stage.shop().books().section(SECTION));
        stage.checkHistory(verdict, lock, Stage.SHORT_LEASE);
    }

    private static CompletableFuture<Message> acquire(WorkerProcess worker, String lock) {
        return worker.ask("acquire", "lock", lock, "lease", Stage.SHORT_LEASE, "section", SECTION);
    }
}
