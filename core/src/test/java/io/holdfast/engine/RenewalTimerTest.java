package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Inside;
import io.holdfast.LockClient;
import io.holdfast.spi.RenewAnswers;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Rule 12: renewals do not depend on each other, are sent together, and the most urgent goes first. */
class RenewalTimerTest extends EngineFixture {

    @Test
    void holds_that_are_due_together_are_renewed_by_one_call_most_urgent_first() {
        List<List<String>> batches = new ArrayList<>();
        LockClient many = clientWith(batches, "");
        for (int i = 0; i < 5; i++) {
            now(acquire(many, "n" + i));
            advance(1);
        }
        advance(1_000);

        assertThat(batches).containsExactly(List.of("n0", "n1", "n2", "n3", "n4"));
    }

    @Test
    void holds_taken_shortly_after_each_other_share_a_renewal_and_each_is_renewed_every_third_of_its_lease() {
        List<List<String>> batches = new ArrayList<>();
        LockClient many = clientWith(batches, "");
        for (int i = 0; i < 10; i++) {
            now(acquire(many, "n" + i));
            advance(9);
        }
        advance(9_910);

        assertThat(batches).hasSize(10).allSatisfy(batch -> assertThat(batch).hasSize(10));
    }

    @Test
    void holds_taken_at_any_time_are_renewed_at_two_times_in_a_period_at_most() {
        List<List<String>> batches = new ArrayList<>();
        LockClient many = clientWith(batches, "");
        for (int i = 0; i < 40; i++) {
            now(acquire(many, "n" + i));
            advance(25);
        }
        advance(5_000);
        batches.clear();
        advance(3_000);

        assertThat(batches).as("in three periods").hasSizeLessThanOrEqualTo(6);
        assertThat(batches.stream().flatMap(List::stream)).hasSize(120);
    }

    @Test
    void holds_that_were_renewed_together_have_equal_deadlines_until_one_is_renewed_without_the_others() {
        LockClient many = clientWith(new ArrayList<>(), "c");
        Hold a = now(acquire(many, "a")).hold;
        Hold b = now(acquire(many, "b")).hold;
        advance(1);
        Hold c = now(acquire(many, "c")).hold;
        advance(1_000);

        assertThat(a.deadline).isEqualTo(b.deadline).isEqualTo(a.asked);
        assertThat(c.deadline).as("of a hold whose renewal hangs").isNotEqualTo(a.deadline);
    }

    @Test
    void a_hold_whose_renewal_hangs_delays_nobody_else() {
        List<List<String>> batches = new ArrayList<>();
        LockClient many = clientWith(batches, "hung");
        ActiveLease hung = now(acquire(many, "hung"));
        ActiveLease fine = now(acquire(many, "fine"));
        advance(60_000);

        assertThat(fine.isValid()).isTrue();
        assertThat(hung.isValid()).isFalse();
    }

    @Test
    void nothing_is_renewed_after_the_release() {
        for (int i = 0; i < 100; i++) {
            now(acquire(client, "a")).release();
            advance(10);
        }
        advance(60_000);

        assertThat(store.count("renew")).isZero();
        assertThat(time.pending()).isZero();
    }

    /** A store may answer many renewals in one go: what goes wrong after one of them is not the next one's concern. */
    @Test
    void a_callback_executor_that_fails_takes_no_other_answer_with_it() {
        ProbeStore probe = probe("many");
        AtomicBoolean broken = new AtomicBoolean();
        ForwardingStore atOnce = new ForwardingStore(probe) {
            @Override
            public void renewAll(List<RenewRequest> requests, RenewAnswers answers) {
                for (int i = 0; i < requests.size(); i++) {
                    answers.answered(i, new RenewReply.Gone(), null);
                }
            }
        };
        LockClient many = LockClient.builder()
                .store(atOnce)
                .timeSource(time)
                .leaseTime(LEASE)
                .callbackExecutor(callback -> {
                    if (broken.get()) {
                        throw new IllegalStateException("no thread for a callback");
                    }
                    callback.run();
                })
                .build();
        clients.add(many);
        ActiveLease first = now(acquire(many, "first"));
        ActiveLease second = now(acquire(many, "second"));
        first.onLost(() -> {});
        broken.set(true);
        try (Warnings warnings = new Warnings()) {
            advance(1_010);
            assertThat(warnings.said("callback executor"))
                    .containsOnly("The callback executor refuses; running on an own thread");
        }

        assertThat(first.hasEnded()).isTrue();
        assertThat(second.hasEnded()).isTrue();
    }

    private LockClient clientWith(List<List<String>> batches, String hangs) {
        ProbeStore probe = probe("many");
        io.holdfast.spi.LockStore watching = new ForwardingStore(probe) {
            @Override
            public void renewAll(List<RenewRequest> requests, RenewAnswers answers) {
                batches.add(requests.stream().map(RenewRequest::name).toList());
                super.renewAll(requests, answers);
            }

            @Override
            public CompletionStage<RenewReply> renew(RenewRequest request) {
                return request.name().equals(hangs) ? new CompletableFuture<>() : super.renew(request);
            }
        };
        LockClient made = Inside.settings(LockClient.builder(), settings -> settings.clientId = "many")
                .store(watching)
                .timeSource(time)
                .leaseTime(LEASE)
                .callbackExecutor(Runnable::run)
                .build();
        clients.add(made);
        return made;
    }
}
