package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.CardDetail;
import io.holdfast.Inside;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.RenewAnswers;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** Renewals come early to share a command with others, but no reason to run the timer makes them come more often. */
class RenewalPaceTest extends EngineFixture {

    /** So long that the clocks are compared several times between two renewals. */
    private static final Duration LONG_LEASE = Duration.ofSeconds(30);

    private final List<List<String>> batches = new ArrayList<>();

    @Test
    void the_comparison_of_the_clocks_makes_no_renewal_come_early() {
        LockClient many = clientOf(new Watching(probe("many")));
        for (int i = 0; i < 40; i++) {
            now(acquire(many, "n" + i));
            advance(250);
        }
        advance(50_000);
        batches.clear();
        advance(30_000);

        assertThat(batches).as("in three periods").hasSizeLessThanOrEqualTo(6);
        assertThat(renewals("n0")).isEqualTo(3);
        assertThat(batches.stream().flatMap(List::stream)).hasSize(120);
    }

    /** The hot name asks the store every 100 ms, which must not pull along what has just failed. */
    @Test
    void a_failed_renewal_waits_before_it_is_tried_again_whatever_else_is_due() {
        LockClient many =
                clientOf(renewing("sick", CompletableFuture.failedFuture(new IllegalStateException("READONLY"))));
        now(acquire(many, "sick"));
        advance(10_000);
        batches.clear();
        handOnEvery100Millis(many, 10_000);

        assertThat(renewals("hot")).isGreaterThan(50);
        assertThat(renewals("sick")).isBetween(3L, 7L);
    }

    @Test
    void a_renewal_without_an_answer_waits_before_it_is_sent_again_whatever_else_is_due() {
        LockClient many = clientOf(renewing("hung", new CompletableFuture<>()));
        now(acquire(many, "hung"));
        advance(10_000);
        batches.clear();
        handOnEvery100Millis(many, 18_000);

        assertThat(renewals("hot")).isGreaterThan(100);
        assertThat(renewals("hung")).isBetween(2L, 8L);
    }

    @Test
    void a_hold_that_is_promised_for_less_is_not_renewed_before_a_fifth_of_that() {
        LockClient many = clientOf(new Watching(new PartlyPromisingStore(probe("many"), 3_000)));
        now(acquire(many, "short"));
        handOnEvery100Millis(many, 12_000);

        assertThat(renewals("hot")).isGreaterThan(50);
        assertThat(renewals("short")).isBetween(12L, 20L);
    }

    /** Returns a store that answers each renewal of this name so. */
    private Watching renewing(String name, CompletionStage<RenewReply> answer) {
        return new Watching(probe("many")) {
            @Override
            public CompletionStage<RenewReply> renew(RenewRequest request) {
                return request.name().equals(name) ? answer : super.renew(request);
            }
        };
    }

    private void handOnEvery100Millis(LockClient many, long millis) {
        Queue<CompletableFuture<Lease>> waiting = new ArrayDeque<>();
        waiting.add(acquire(many, "hot"));
        waiting.add(acquire(many, "hot"));
        for (long passed = 0; passed < millis; passed += 100) {
            waiting.add(acquire(many, "hot"));
            now(waiting.remove()).release();
            advance(100);
        }
        waiting.forEach(each -> now(each).release());
    }

    private long renewals(String name) {
        return batches.stream()
                .flatMap(List::stream)
                .filter(each -> each.equals(name))
                .count();
    }

    private LockClient clientOf(ForwardingStore store) {
        LockClient made = Inside.settings(LockClient.builder(), settings -> settings.clientId = "many")
                .store(store)
                .timeSource(time)
                .leaseTime(LONG_LEASE)
                .callbackExecutor(Runnable::run)
                .cards(CardDetail.OFF)
                .build();
        clients.add(made);
        return made;
    }

    /** Notes the names of each call. */
    private class Watching extends ForwardingStore {

        Watching(LockStore store) {
            super(store);
        }

        @Override
        public void renewAll(List<RenewRequest> requests, RenewAnswers answers) {
            batches.add(requests.stream().map(RenewRequest::name).toList());
            super.renewAll(requests, answers);
        }
    }
}
