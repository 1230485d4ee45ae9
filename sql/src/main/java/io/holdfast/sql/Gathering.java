package io.holdfast.sql;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * Runs commands of one kind, on different names as a rule. Those that came while the connections were busy go together
 * in one statement: one round trip, and one wait for the disk. Thread-safe.
 *
 * @param <Q> a request
 * @param <A> its reply
 */
final class Gathering<Q, A> {

    /** A statement of more would keep the first ones waiting. */
    private static final int MOST = 64;

    /** Runs one request. */
    interface Single<Q, A> {
        A run(Link link, Q request) throws SQLException;
    }

    /** Runs several requests by one statement. */
    interface Together<Q, A> {
        /** Returns the replies to those that could be executed so. The others are run each on its own. */
        Map<Q, A> run(Link link, List<Q> requests) throws SQLException;
    }

    private record Waiting<Q, A>(Q request, CompletableFuture<A> reply) {

        void ends(@Nullable A answer, @Nullable Throwable error) {
            if (error != null) {
                reply.completeExceptionally(error);
            } else {
                reply.complete(answer);
            }
        }
    }

    private final Workers workers;
    private final SqlErrors errors;
    private final Single<Q, A> single;
    private final Together<Q, A> together;
    private final Queue<Waiting<Q, A>> waiting = new ConcurrentLinkedQueue<>();

    Gathering(Workers workers, SqlErrors errors, Single<Q, A> single, Together<Q, A> together) {
        this.workers = workers;
        this.errors = errors;
        this.single = single;
        this.together = together;
    }

    /** Runs a request. The stage ends as that of {@link Workers#submit}. */
    CompletionStage<A> submit(Q request) {
        Waiting<Q, A> one = new Waiting<>(request, new CompletableFuture<>());
        waiting.add(one);
        // A command that finds its request gone has nothing to do: an earlier one has run it, and ends its stage.
        workers.submit(this::runWaiting).whenComplete((done, error) -> {
            if (error != null && waiting.remove(one)) {
                one.ends(null, error);
            }
        });
        return one.reply();
    }

    private boolean runWaiting(Link link) throws SQLException {
        List<Waiting<Q, A>> all = new ArrayList<>();
        for (Waiting<Q, A> one = waiting.poll(); one != null; one = all.size() < MOST ? waiting.poll() : null) {
            all.add(one);
        }
        try {
            if (all.size() == 1) {
                all.get(0).ends(single.run(link, all.get(0).request()), null);
            } else if (!all.isEmpty()) {
                runTogether(link, all);
            }
        } catch (Throwable e) {
            Throwable why = e instanceof SQLException error ? errors.ofCommand(error) : e;
            all.forEach(one -> one.ends(null, why));
            throw e;
        }
        return true;
    }

    private void runTogether(Link link, List<Waiting<Q, A>> all) throws SQLException {
        Map<Q, A> answers =
                together.run(link, all.stream().map(Waiting::request).toList());
        for (Waiting<Q, A> one : all) {
            A answer = answers.get(one.request());
            if (answer != null) {
                one.ends(answer, null);
            } else {
                workers.submit(next -> single.run(next, one.request())).whenComplete(one::ends);
            }
        }
    }
}
