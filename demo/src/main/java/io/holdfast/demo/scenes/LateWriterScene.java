package io.holdfast.demo.scenes;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The holder is paused past its lease and wakes up in the belief that it holds the lock: its write is refused. */
final class LateWriterScene implements Scene {

    /** Sure to be under way when the process is paused, and over when it wakes up. */
    private static final long PREPARATION_MILLIS = 2_000;

    private static final String LEDGER = "ledger";
    private static final String SECTION = "late writer";

    @Override
    public String name() {
        return "late writer";
    }

    @Override
    public String title() {
        return "a holder that slept through its lease cannot write";
    }

    @Override
    public void play(Stage stage, Verdict verdict) throws Exception {
        WorkerProcess sleeper = stage.crew().all().get(0);
        WorkerProcess other = stage.crew().all().get(1);
        String lock = stage.lock("late-writer");
        stage.line().step("the holder is paused by SIGSTOP past its lease, and resumed");

        Message first = stage.await(acquire(sleeper, lock), () -> "the first takes the lock");
        boolean early = stage.await(append(sleeper, first, "first", 0), () -> "the first writes")
                .isTrue("accepted");
        CompletableFuture<Message> second = acquire(other, lock);
        stage.awaitWaiter(lock, () -> "the other comes to wait");
        CompletableFuture<Message> lateWrite = append(sleeper, first, "late", PREPARATION_MILLIS);
        Message next;
        boolean between;
        sleeper.pause();
        try {
            next = stage.await(second, () -> "the holder is paused and its lease runs out");
            between = stage.await(append(other, next, "second", 0), () -> "the other writes")
                    .isTrue("accepted");
        } finally {
            sleeper.resume();
        }
        Message late = stage.await(lateWrite, () -> "the holder wakes up and writes");
        Message end = stage.await(sleeper.ask("release", "handle", first.text("handle")), () -> "the holder releases");
        Message nextEnd = stage.await(other.ask("release", "handle", next.text("handle")), () -> "done");

        boolean refused = !late.isTrue("accepted");
        List<String> lines = stage.shop().books().ledger(LEDGER).lines();
        verdict.number("tokenOfPaused", first.number("token"));
        verdict.number("tokenOfNext", next.number("token"));
        verdict.number("lateWritesAccepted", refused ? 0 : 1);
        verdict.happened("holder paused past its lease; woke up, learned of the loss, and its write was "
                + (refused ? "refused" : "accepted"));
        verdict.check("the writes in time are accepted", early && between, lines);
        verdict.check(
                "another process gets the lock meanwhile, with a larger token",
                larger(first, next),
                tokens(first, next));
        verdict.check(
                "at the first look after the pause the lease is invalid", !late.isTrue("valid"), late.text("ensure"));
        verdict.check(
                "the paused holder learns of its loss",
                end.isTrue("told") && end.isTrue("lost") && late.text("ensure").equals("lost"),
                "callback " + end.text("told") + ", release says lost " + end.text("lost"));
        verdict.check("its late write is refused", refused, lines);
        verdict.check("the second holder keeps its lock", !nextEnd.isTrue("lost"), "lost " + nextEnd.text("lost"));
        stage.checkHistory(verdict, lock, Stage.SHORT_LEASE);
    }

    private static boolean larger(Message first, Message next) {
        return next.number("token") > first.number("token");
    }

    private static String tokens(Message first, Message next) {
        return first.text("token") + ", then " + next.text("token");
    }

    private static CompletableFuture<Message> acquire(WorkerProcess worker, String lock) {
        return worker.ask("acquire", "lock", lock, "lease", Stage.SHORT_LEASE, "section", SECTION);
    }

    private static CompletableFuture<Message> append(WorkerProcess worker, Message lease, String line, long millis) {
        return worker.ask("append", "handle", lease.text("handle"), "ledger", LEDGER, "line", line, "millis", millis);
    }
}
