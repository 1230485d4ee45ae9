package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import io.holdfast.MultiLease;
import io.holdfast.engine.ProbeStore.Fate;
import io.holdfast.spi.StoreContext;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a thread and a stage get that wait for the answer to a call of a lease's user. */
@Timeout(60)
class AnswerTest extends EngineFixture {

    private static final Duration LONGER = LEASE.multipliedBy(2);

    enum Call {
        RELEASE {
            @Override
            void here(MultiLease leases) {
                leases.leases().forEach(Lease::release);
            }

            @Override
            CompletionStage<Void> stage(MultiLease leases) {
                return both(leases.lease("a").releaseAsync(), leases.lease("b").releaseAsync());
            }
        },
        RELEASE_ALL {
            @Override
            void here(MultiLease leases) {
                leases.release();
            }

            @Override
            CompletionStage<Void> stage(MultiLease leases) {
                return leases.releaseAsync();
            }
        },
        EXTEND {
            @Override
            void here(MultiLease leases) {
                leases.leases().forEach(lease -> lease.extend(LONGER));
            }

            @Override
            CompletionStage<Void> stage(MultiLease leases) {
                return both(
                        leases.lease("a").extendAsync(LONGER), leases.lease("b").extendAsync(LONGER));
            }
        },
        EXTEND_ALL {
            @Override
            void here(MultiLease leases) {
                leases.extend(LONGER);
            }

            @Override
            CompletionStage<Void> stage(MultiLease leases) {
                return leases.extendAsync(LONGER);
            }
        };

        abstract void here(MultiLease leases);

        abstract CompletionStage<Void> stage(MultiLease leases);

        boolean isRelease() {
            return this == RELEASE || this == RELEASE_ALL;
        }

        private static CompletionStage<Void> both(CompletionStage<Void> one, CompletionStage<Void> other) {
            return one.thenCombine(other, (nothing, either) -> null);
        }
    }

    /** Kept, so that no lease is forgotten. */
    private @Nullable MultiLease leases;

    private MultiLease acquired(LockClient from) {
        CompletableFuture<MultiLease> stage =
                from.acquireAllAsync(List.of("a", "b")).toCompletableFuture();
        await().until(stage::isDone);
        leases = stage.join();
        return leases;
    }

    private void hold() {
        store.releases = Fate.REPLY_HELD;
        store.renews = Fate.REPLY_HELD;
    }

    @AfterEach
    void answer() {
        store.releases = Fate.PASS;
        store.renews = Fate.PASS;
        store.deliverReplies();
    }

    private static CompletableFuture<Void> stage(Call call, MultiLease leases) {
        return call.stage(leases).toCompletableFuture();
    }

    /** Starts the call on a thread of its own, and returns when that waits. */
    private static Thread waiting(FutureTask<?> call) {
        Thread thread = new Thread(call);
        thread.start();
        await().until(() -> isWaiting(thread));
        return thread;
    }

    private static boolean isWaiting(Thread thread) {
        return thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING;
    }

    /** Answers whatever is asked, one command after the other. */
    private void answerUntil(FutureTask<?> call) {
        await().until(() -> {
            store.deliverReplies();
            return call.isDone();
        });
    }

    private void assertDone(Call call, MultiLease leases) {
        assertThat(leases.isValid()).isEqualTo(!call.isRelease());
        assertThat(server.connect(new StoreContext("look", time))
                        .inspect("a")
                        .toCompletableFuture()
                        .join()
                        .holder())
                .matches(holder -> (holder == null) == call.isRelease());
    }

    @ParameterizedTest
    @EnumSource
    void an_answer_that_is_there_ends_the_call_at_once(Call call) {
        MultiLease first = acquired(client);
        call.here(first);
        assertDone(call, first);
        first.leases().forEach(lease -> LeaseHandle.active(lease).releaseQuietly());

        MultiLease second = acquired(client);
        assertThat(stage(call, second)).isCompleted();
        assertDone(call, second);
    }

    @ParameterizedTest
    @EnumSource
    void a_thread_waits_for_the_answer_and_so_does_a_stage(Call call) throws Exception {
        MultiLease first = acquired(client);
        hold();
        FutureTask<Void> thread = new FutureTask<>(() -> call.here(first), null);
        waiting(thread);
        assertThat(thread.isDone()).isFalse();
        answerUntil(thread);
        thread.get();
        assertDone(call, first);
        first.leases().forEach(lease -> LeaseHandle.active(lease).releaseQuietly());
        store.deliverReplies();

        store.releases = Fate.PASS;
        MultiLease second = acquired(client);
        hold();
        CompletableFuture<Void> stage = stage(call, second);
        assertThat(stage).isNotDone();
        store.deliverReplies();
        assertThat(stage).isCompleted();
        assertDone(call, second);
    }

    @ParameterizedTest
    @EnumSource
    void an_interrupt_does_not_end_the_wait_and_is_kept(Call call) throws Exception {
        MultiLease both = acquired(client);
        hold();
        FutureTask<Boolean> interrupted = new FutureTask<>(() -> {
            call.here(both);
            return Thread.interrupted();
        });
        Thread thread = waiting(interrupted);
        thread.interrupt();
        // The flag is taken by the wait, which goes on.
        await().until(() -> !thread.isInterrupted() && isWaiting(thread));
        assertThat(interrupted.isDone()).isFalse();
        answerUntil(interrupted);
        assertThat(interrupted.get()).isTrue();
        assertDone(call, both);
    }

    @ParameterizedTest
    @EnumSource
    void the_cancel_of_a_stage_undoes_nothing(Call call) {
        MultiLease both = acquired(client);
        hold();
        CompletableFuture<Void> stage = stage(call, both);
        assertThat(stage.cancel(true)).isTrue();
        store.deliverReplies();
        assertThat(stage).isCancelled();
        assertDone(call, both);
    }

    @ParameterizedTest
    @EnumSource
    void a_lease_that_was_lost_before_the_call_is_reported(Call call) {
        MultiLease both = acquired(client);
        store.renews = Fate.FAIL;
        advance(2 * LEASE.toMillis());
        CompletableFuture<Void> stage = stage(call, both);
        assertThat(stage)
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(() -> call.here(both)).isInstanceOf(LeaseLostException.class);
        store.renews = Fate.PASS;
    }

    /** The thread that brings the bad news is another one. */
    @ParameterizedTest
    @EnumSource(names = {"EXTEND", "EXTEND_ALL"})
    void a_failure_has_the_stack_of_the_thread_that_called(Call call) throws Exception {
        MultiLease both = acquired(client);
        store.renews = Fate.REQUEST_FAILS;
        FutureTask<LockStoreException> failure = new FutureTask<>(() -> {
            try {
                theCaller(call, both);
            } catch (LockStoreException e) {
                return e;
            }
            throw new AssertionError("no failure");
        });
        waiting(failure);
        store.deliverRequests();
        assertThat(failure.get())
                .hasMessageContaining("was not extended")
                .satisfies(e -> assertThat(e.getStackTrace())
                        .extracting(StackTraceElement::getMethodName)
                        .contains("theCaller"));
        CompletableFuture<Void> stage = stage(call, both);
        assertThat(stage).isNotDone();
        store.deliverRequests();
        assertThat(stage)
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(LockStoreException.class)
                .withMessageContaining("was not extended");
    }

    private static void theCaller(Call call, MultiLease leases) {
        call.here(leases);
    }

    @ParameterizedTest
    @EnumSource
    void an_executor_that_refuses_does_not_keep_the_answer_from_a_stage(Call call) {
        MultiLease both = acquired(client(
                "refusing",
                probe("refusing"),
                settings -> settings.callbackExecutor = task -> {
                    throw new RejectedExecutionException("full");
                }));
        CompletableFuture<Void> stage = stage(call, both);
        await().until(stage::isDone);
        assertThat(stage).isCompleted();
        assertDone(call, both);
    }

    /** The first failure is thrown, and the others are not lost. */
    @Test
    void of_several_failures_a_thread_gets_all() throws Exception {
        MultiLease both = acquired(client);
        store.renews = Fate.FAIL;
        assertThatThrownBy(() -> both.extend(LONGER))
                .isInstanceOf(LockStoreException.class)
                .hasMessageContaining("\"a\"")
                .satisfies(e -> assertThat(e.getSuppressed())
                        .singleElement()
                        .extracting(Throwable::getMessage)
                        .asString()
                        .contains("\"b\""));
        store.renews = Fate.PASS;
    }
}
