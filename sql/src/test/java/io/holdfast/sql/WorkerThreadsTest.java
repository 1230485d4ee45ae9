package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.TimeSource;
import java.net.URI;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which connection runs a command, and when a new one means that others may have been lost. */
class WorkerThreadsTest {

    private final AtomicInteger connections = new AtomicInteger();
    private final AtomicInteger losses = new AtomicInteger();
    private final CountDownLatch end = new CountDownLatch(1);
    private final WorkerThreads workers = new WorkerThreads(
            this::connected,
            losses::incrementAndGet,
            new SqlErrors(SqlSettings.parse(URI.create("jdbc:h2:mem:"))),
            TimeSource.system(),
            connected());

    private Link connected() {
        connections.incrementAndGet();
        try {
            Link link = new Link(DriverManager.getConnection("jdbc:h2:mem:"), TimeSource.system());
            // The first statement loads classes, which may take longer than a connection waits for an answer of
            // another.
            ask(link);
            return link;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static @Nullable Boolean ask(Link link) throws SQLException {
        return link.first("SELECT TRUE", row -> row.getBoolean(1));
    }

    @AfterEach
    void close() {
        end.countDown();
        workers.close();
    }

    private <T> CompletableFuture<T> submit(Workers.Task<T> task) {
        return workers.submit(task).toCompletableFuture();
    }

    private static void join(List<? extends CompletableFuture<?>> commands) throws Exception {
        for (CompletableFuture<?> command : commands) {
            command.get(30, TimeUnit.SECONDS);
        }
    }

    /** Each time, all waiters of the client lost their places. */
    @Test
    void a_connection_that_helps_one_that_answers_replaces_none() throws Exception {
        List<CompletableFuture<?>> commands = new ArrayList<>();
        for (int i = 0; i < 400; i++) {
            commands.add(submit(link -> {
                pause();
                return ask(link);
            }));
        }
        join(commands);
        assertThat(connections).hasValueGreaterThan(1);
        assertThat(losses).hasValue(0);
    }

    private static void pause() {
        try {
            TimeUnit.MILLISECONDS.sleep(2);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void a_connection_that_helps_one_without_an_answer_may_replace_it() throws Exception {
        CompletableFuture<Boolean> stuck = submit(link -> {
            await(end);
            return true;
        });
        int before = submit(link -> losses.get()).get(30, TimeUnit.SECONDS);
        assertThat(before).isEqualTo(1);
        end.countDown();
        stuck.get(30, TimeUnit.SECONDS);
    }

    /**
     * So ends a command whose work another one has done. In a process that was restored from an image, each connection
     * is lost, and one that was not asked tells nothing.
     */
    @Test
    void a_command_that_asks_the_database_nothing_shows_no_connection_alive() throws Exception {
        makeTwo();
        int before = losses.get();
        List<CompletableFuture<?>> commands = new ArrayList<>();
        CompletableFuture<Boolean> lost = submit(link -> {
            throw new SQLException("cut", "08006");
        });
        commands.add(lost.handle((answer, error) -> error));
        for (int i = 0; i < 400; i++) {
            commands.add(submit(link -> {
                pause();
                return true;
            }));
        }
        join(commands);
        assertThat(losses).hasValueGreaterThan(before);
    }

    /** Otherwise the connections that helped would take turns, and never be closed for lack of work. */
    @Test
    void the_connection_that_was_used_last_is_used_next() throws Exception {
        makeTwo();
        List<CompletableFuture<Link>> used = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            used.add(submit(link -> link));
            // It comes to rest.
            TimeUnit.MILLISECONDS.sleep(20);
        }
        assertThat(mostUsed(used)).isGreaterThan(14);
    }

    @Test
    void one_connection_serves_a_burst_of_renewals() throws Exception {
        makeTwo();
        TimeUnit.MILLISECONDS.sleep(50);
        List<CompletableFuture<Link>> used = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            used.add(workers.submit(
                            link -> {
                                pause();
                                return link;
                            },
                            true)
                    .toCompletableFuture());
        }
        assertThat(mostUsed(used)).isGreaterThan(14);
    }

    private void makeTwo() throws Exception {
        CountDownLatch both = new CountDownLatch(2);
        List<CompletableFuture<Boolean>> commands = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            commands.add(submit(link -> {
                both.countDown();
                await(both);
                return true;
            }));
        }
        join(commands);
    }

    private static long mostUsed(List<CompletableFuture<Link>> used) throws Exception {
        join(used);
        IdentityHashMap<Link, Integer> times = new IdentityHashMap<>();
        for (CompletableFuture<Link> each : used) {
            times.merge(each.get(), 1, Integer::sum);
        }
        return Collections.max(times.values());
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void a_connection_after_a_loss_replaces_it() throws Exception {
        CompletableFuture<Boolean> lost = submit(link -> {
            throw new SQLException("cut", "08006");
        });
        assertThat(lost.handle((answer, error) -> error != null).get(30, TimeUnit.SECONDS))
                .isTrue();
        assertThat(submit(link -> losses.get()).get(30, TimeUnit.SECONDS)).isEqualTo(1);
    }
}
