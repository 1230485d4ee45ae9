package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreException.Outcome;
import io.holdfast.spi.TimeSource;
import java.net.URI;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Which requests go together, and how each of them ends. */
class GatheringTest {

    private final SqlErrors errors = new SqlErrors(SqlSettings.parse(URI.create("jdbc:h2:mem:")));
    private final Deque<Runnable> commands = new ArrayDeque<>();
    private final List<Object> sent = new ArrayList<>();
    private @Nullable SQLException failure;
    private @Nullable StoreException unconnected;
    private final Gathering<String, String> gathering =
            new Gathering<>(new Later(), errors, this::single, this::together);

    /** Keeps commands until {@link #runAll}. */
    private final class Later implements Workers {

        @Override
        public <T> CompletionStage<T> submit(Task<T> task, boolean renewal) {
            CompletableFuture<T> reply = new CompletableFuture<>();
            commands.add(() -> {
                if (unconnected != null) {
                    reply.completeExceptionally(unconnected);
                    return;
                }
                try (Link link = new Link(DriverManager.getConnection("jdbc:h2:mem:"), TimeSource.system())) {
                    reply.complete(task.run(link));
                } catch (SQLException e) {
                    reply.completeExceptionally(errors.ofCommand(e));
                }
            });
            return reply;
        }

        @Override
        public void close() {}
    }

    private String single(Link link, String request) throws SQLException {
        sent.add(request);
        fail();
        return request + " alone";
    }

    /** Has no reply to "busy". */
    private Map<String, String> together(Link link, List<String> requests) throws SQLException {
        sent.add(requests);
        fail();
        Map<String, String> replies = new HashMap<>();
        requests.forEach(request -> replies.put(request, request + " together"));
        replies.remove("busy");
        return replies;
    }

    private void fail() throws SQLException {
        if (failure != null) {
            throw failure;
        }
    }

    private CompletableFuture<String> submit(String request) {
        return gathering.submit(request).toCompletableFuture();
    }

    private void runAll() {
        for (Runnable next = commands.poll(); next != null; next = commands.poll()) {
            next.run();
        }
    }

    @Test
    void aRequestIsRunAlone() {
        CompletableFuture<String> reply = submit("a");
        runAll();
        assertThat(reply).isCompletedWithValue("a alone");
    }

    @Test
    void thoseThatHaveComeMeanwhileGoTogether() {
        CompletableFuture<String> a = submit("a");
        CompletableFuture<String> busy = submit("busy");
        CompletableFuture<String> b = submit("b");
        runAll();
        assertThat(a).isCompletedWithValue("a together");
        assertThat(b).isCompletedWithValue("b together");
        assertThat(busy).isCompletedWithValue("busy alone");
        assertThat(sent).containsExactly(List.of("a", "busy", "b"), "busy");
    }

    @Test
    void aStatementThatFailsEndsAllOfIt() {
        CompletableFuture<String> a = submit("a");
        CompletableFuture<String> b = submit("b");
        failure = new SQLException("lock timeout", "55P03");
        runAll();
        assertOutcome(a, Outcome.NOT_EXECUTED);
        assertOutcome(b, Outcome.NOT_EXECUTED);
        CompletableFuture<String> later = submit("c");
        failure = new SQLException("broken", "08006");
        runAll();
        assertOutcome(later, Outcome.UNKNOWN);
    }

    @Test
    void aRequestThatIsNeverSentFails() {
        CompletableFuture<String> a = submit("a");
        unconnected = new StoreException(Outcome.NOT_EXECUTED, "no connection", null);
        runAll();
        assertOutcome(a, Outcome.NOT_EXECUTED);
        unconnected = null;
        CompletableFuture<String> b = submit("b");
        runAll();
        assertThat(b).isCompletedWithValue("b alone");
        assertThat(sent).containsExactly("b");
    }

    private static void assertOutcome(CompletableFuture<String> reply, Outcome outcome) {
        assertThat(reply).isDone();
        assertThatThrownBy(reply::join)
                .hasCauseInstanceOf(StoreException.class)
                .satisfies(e ->
                        assertThat(((StoreException) e.getCause()).outcome()).isEqualTo(outcome));
    }
}
