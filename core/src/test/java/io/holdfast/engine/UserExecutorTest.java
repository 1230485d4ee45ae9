package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.CardDetail;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockListener;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An executor of the user's, or callbacks, that block: what else they must not hold up. In real time. */
@Timeout(60)
class UserExecutorTest {

    private final CountDownLatch end = new CountDownLatch(1);
    private final Set<String> ran = ConcurrentHashMap.newKeySet();

    private static LockClient client(String store, Executor executor) {
        return LockClient.builder()
                .uri("memory:" + store)
                .cards(CardDetail.OFF)
                .callbackExecutor(executor)
                .build();
    }

    private void block() {
        ran.add(Thread.currentThread().getName());
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The one timer thread renews the leases of all clients of the JVM. */
    private static void assertTimersRun() throws InterruptedException {
        CountDownLatch timer = new CountDownLatch(1);
        TimeSource.system().schedule(0, timer::countDown);
        assertThat(timer.await(10, TimeUnit.SECONDS)).as("timers run").isTrue();
    }

    /** As with CallerRunsPolicy. */
    @Test
    void an_executor_that_runs_tasks_on_its_callers_thread_holds_up_no_timers() throws Exception {
        try (LockClient client = client("caller", Runnable::run)) {
            Lease held = client.acquire("a");
            for (int i = 0; i < 3; i++) {
                client.tryAcquireAsync("a", Duration.ofMillis(50)).thenAccept(none -> block());
            }
            await().until(() -> ran.size() == 3);
            assertTimersRun();
            assertThat(ran).allMatch(name -> name.startsWith("holdfast-callback-"));
            end.countDown();
            held.release();
        }
    }

    /** As one with a limit of concurrent tasks. */
    @Test
    void an_executor_that_blocks_holds_up_no_timers_and_no_other_loss() throws Exception {
        try (LockClient client = client("blocks", task -> block())) {
            Lease held = client.acquire("a");
            var unused = client.tryAcquireAsync("a", Duration.ofMillis(50));
            await().until(() -> !ran.isEmpty());
            assertTimersRun();
            held.onLost(() -> {});
            assertThat(client.forceRelease("a")).isTrue();
            await().until(() -> ran.stream().anyMatch(name -> name.startsWith("holdfast-loss-")));
            end.countDown();
        }
    }

    @Test
    void an_executor_that_refuses_is_replaced_by_an_own_thread() throws Exception {
        try (LockClient client = client("refuses", task -> {
            throw new java.util.concurrent.RejectedExecutionException("full");
        })) {
            Lease held = client.acquire("a");
            client.tryAcquireAsync("a", Duration.ofMillis(50))
                    .thenAccept(none -> ran.add(Thread.currentThread().getName()));
            await().until(() -> !ran.isEmpty());
            assertThat(ran).allMatch(name -> name.startsWith("holdfast-callback-"));
            held.release();
        }
    }

    @Test
    void threads_of_a_factory_run_each_callback_with_no_thread_between() throws Exception {
        AtomicInteger made = new AtomicInteger();
        LockClient client = LockClient.builder()
                .uri("memory:factory")
                .cards(CardDetail.OFF)
                .callbackThreads(task -> new Thread(task, "mine-" + made.incrementAndGet()))
                .build();
        try (client) {
            CountDownLatch done = new CountDownLatch(1);
            Lease held = client.acquire("a");
            client.tryAcquireAsync("a", Duration.ofMillis(50)).thenAccept(none -> {
                ran.add(Thread.currentThread().getName());
                done.countDown();
            });
            assertThat(done.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(ran).containsExactly("mine-1");
            assertThat(made).hasValue(1);
            held.release();
        }
    }

    @Test
    void more_listener_calls_that_block_than_there_are_threads_do_not_silence_a_loss() throws Exception {
        AtomicInteger blocked = new AtomicInteger();
        LockClient client = LockClient.builder()
                .uri("memory:listener")
                .cards(CardDetail.OFF)
                .listener(new LockListener() {
                    @Override
                    public void released(String name, long token, Duration held) {
                        blocked.incrementAndGet();
                        block();
                    }
                })
                .build();
        assertLossIsTold(client, blocked, () -> client.tryAcquire("b").ifPresent(Lease::release));
    }

    @Test
    void more_outcomes_that_block_than_there_are_threads_do_not_either() throws Exception {
        AtomicInteger blocked = new AtomicInteger();
        LockClient client =
                LockClient.builder().uri("memory:outcome").cards(CardDetail.OFF).build();
        assertLossIsTold(
                client,
                blocked,
                () -> client.tryAcquireAsync("a", Duration.ofMillis(200)).thenAccept(none -> {
                    blocked.incrementAndGet();
                    block();
                }));
    }

    private void assertLossIsTold(LockClient client, AtomicInteger blocked, Runnable call) throws Exception {
        try (client;
                Warnings warnings = new Warnings()) {
            Lease held = client.acquire("a");
            CountDownLatch told = new CountDownLatch(1);
            held.onLost(told::countDown);
            for (int i = 0; i < CallbackThreads.MOST + 10; i++) {
                call.run();
            }
            await().atMost(Duration.ofSeconds(30)).until(() -> blocked.get() == CallbackThreads.MOST);
            assertThat(client.forceRelease("a")).isTrue();
            assertThat(told.await(10, TimeUnit.SECONDS)).as("onLost ran").isTrue();
            await().untilAsserted(
                            () -> assertThat(warnings.said("All 512 threads")).hasSize(1));
            end.countDown();
        }
    }
}
