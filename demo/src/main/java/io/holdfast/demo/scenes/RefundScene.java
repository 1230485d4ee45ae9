package io.holdfast.demo.scenes;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Many requests for the same refund, in several processes at the same time: one does it. */
final class RefundScene implements Scene {

    private static final int REQUESTS_EACH = 10;
    private static final String ORDER = "order:12345";

    @Override
    public String name() {
        return "refund";
    }

    @Override
    public String title() {
        return "concurrent requests refund an order once";
    }

    @Override
    public void play(Stage stage, Verdict verdict) throws Exception {
        Section section = stage.shop().books().section(ORDER);
        List<WorkerProcess> workers = stage.crew().all();
        int requests = workers.size() * REQUESTS_EACH;
        stage.line().step(requests + " requests for one refund, in " + workers.size() + " processes");

        List<CompletableFuture<Message>> replies = new ArrayList<>();
        for (WorkerProcess worker : workers) {
            replies.add(worker.ask(
                    "refund",
                    "lock",
                    stage.lock("refund"),
                    "lease",
                    Stage.LONG_LEASE,
                    "order",
                    ORDER,
                    "requests",
                    REQUESTS_EACH));
        }
        long refunded = 0;
        long already = 0;
        for (Message reply :
                stage.awaitAll(replies, () -> section.entries() + " of " + requests + " requests served")) {
            refunded += reply.number("refunded");
            already += reply.number("already");
        }

        int paid = stage.shop().books().entries(ORDER).size();
        verdict.number("requests", requests);
        verdict.number("refunded", paid);
        verdict.number("toldAlreadyRefunded", already);
        verdict.happened(requests + " requests in " + workers.size() + " processes: " + paid + " refunded, " + already
                + " told \"already refunded\"");
        verdict.check("the order is refunded exactly once", paid == 1 && refunded == 1, paid + " refunds");
        verdict.check("all others learn so", already == requests - 1, already + " told");
        verdict.checkSection(section);
        stage.checkHistory(verdict, stage.lock("refund"), Stage.LONG_LEASE);
    }
}
