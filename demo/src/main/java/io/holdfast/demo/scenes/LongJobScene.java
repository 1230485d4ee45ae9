package io.holdfast.demo.scenes;

import java.util.Locale;
import java.util.concurrent.CompletableFuture;

/** Work that takes longer than the lease: renewal keeps the lock. */
final class LongJobScene implements Scene {

    private static final long WORK_MILLIS = 3 * Stage.SHORT_LEASE / 2;

    /** Sooner than the lease would have run out. */
    private static final long PROMPT_MILLIS = Stage.SHORT_LEASE - 1_000;

    private static final String SECTION = "long job";

    @Override
    public String name() {
        return "long job";
    }

    @Override
    public String title() {
        return "work longer than the lease keeps the lock by renewal";
    }

    @Override
    public void play(Stage stage, Verdict verdict) throws Exception {
        WorkerProcess worker = stage.crew().all().get(0);
        WorkerProcess other = stage.crew().all().get(1);
        String lock = stage.lock("long-job");
        stage.line()
                .step("one process works " + WORK_MILLIS / 1000 + " s under a lease of " + Stage.SHORT_LEASE / 1000
                        + " s, another waits");

        Message first = stage.await(acquire(worker, lock), () -> "the first takes the lock");
        CompletableFuture<Message> second = acquire(other, lock);
        stage.awaitWaiter(lock, () -> "the other comes to wait");
        long begun = System.nanoTime();
        Message worked = stage.await(
                worker.ask("work", "handle", first.text("handle"), "millis", WORK_MILLIS),
                () -> String.format(Locale.ROOT, "works for %.1f s now", (System.nanoTime() - begun) / 1e9));
        boolean early = second.isDone();
        Message released =
                stage.await(worker.ask("release", "handle", first.text("handle")), () -> "the first releases");
        long releasedNanos = System.nanoTime();
        Message next = stage.await(second, () -> "the other takes over");
        long handOffMillis = Math.max(0, (System.nanoTime() - releasedNanos) / 1_000_000);
        stage.await(other.ask("release", "handle", next.text("handle")), () -> "done");

        verdict.number("leaseMillis", Stage.SHORT_LEASE);
        verdict.number("workMillis", WORK_MILLIS);
        verdict.number("handOffMillis", handOffMillis);
        verdict.happened("held a lease of " + Stage.SHORT_LEASE / 1000 + " s for " + WORK_MILLIS / 1000
                + " s; the waiter had the lock " + handOffMillis + " ms after the release");
        boolean kept = worked.isTrue("valid") && !released.isTrue("lost");
        verdict.check("the lease stays valid to the end of the work", kept, kept ? "valid" : "lost");
        verdict.check("the waiter gets nothing before that", !early, early ? "acquired early" : "waited");
        verdict.check(
                "and the lock soon after (at most " + PROMPT_MILLIS + " ms)",
                handOffMillis <= PROMPT_MILLIS,
                handOffMillis + " ms");
        verdict.checkSection(stage.shop().books().section(SECTION));
        stage.checkHistory(verdict, lock, Stage.SHORT_LEASE);
    }

    private static CompletableFuture<Message> acquire(WorkerProcess worker, String lock) {
        return worker.ask("acquire", "lock", lock, "lease", Stage.SHORT_LEASE, "section", SECTION);
    }
}
