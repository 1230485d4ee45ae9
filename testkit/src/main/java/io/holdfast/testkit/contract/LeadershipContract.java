package io.holdfast.testkit.contract;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.ClientCard;
import io.holdfast.Leadership;
import io.holdfast.LeadershipListener;
import io.holdfast.LockClient;
import io.holdfast.Term;
import io.holdfast.spi.TimeSource;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The part of the contract on leaders. Needs real time, in which threads run. */
abstract class LeadershipContract extends StoreModelContract {

    private record Call(String candidate, boolean elected, Term term) {}

    private final BlockingQueue<Call> calls = new LinkedBlockingQueue<>();

    @Test
    void aLeaderHandsOverWhenItResignsAndWhenItsClientCloses() throws InterruptedException {
        assumeTrue(time() == TimeSource.system(), "virtual time");
        try (LockClient two = candidateClient()) {
            Leadership second;
            Term last;
            try (LockClient one = candidateClient()) {
                Leadership first = one.leadership(name, listener("one"));
                last = next("one", true);
                assertThat(first.isLeader()).isTrue();
                assertThat(first.leader().map(ClientCard::id)).isIn(Optional.empty(), Optional.of(one.id()));
                second = two.leadership(name, listener("two"));
                if (hasQueue()) {
                    last = handOver(one, first, "one", "two", last);
                    assertThat(first.isLeader()).isFalse();
                    last = handOver(one, second, "two", "one", last);
                }
            }
            next("one", false);
            after(last, next("two", true));
            assertThat(second.isLeader()).isTrue();
        }
        next("two", false);
        assertThat(calls).isEmpty();
    }

    /** Resigns until the other candidate leads. A client that has just begun to listen may miss its first turn. */
    private Term handOver(LockClient by, Leadership leader, String from, String to, Term last)
            throws InterruptedException {
        Term before = last;
        for (int i = 0; i < 10; i++) {
            await().atMost(LONG).until(() -> by.inspect("leader:" + name).waitingClients() > 0);
            leader.resign();
            next(from, false);
            Call elected = poll();
            after(before, elected.term);
            if (elected.candidate.equals(to)) {
                return elected.term;
            }
            before = elected.term;
        }
        throw new AssertionError(from + " resigned 10 times, and " + to + " does not lead");
    }

    private Call poll() throws InterruptedException {
        Call call = calls.poll(LONG.toSeconds(), TimeUnit.SECONDS);
        assertThat(call).isNotNull();
        return requireNonNull(call);
    }

    private Term next(String candidate, boolean elected) throws InterruptedException {
        Call call = poll();
        assertThat(call.candidate + (call.elected ? " elected" : " revoked"))
                .isEqualTo(candidate + (elected ? " elected" : " revoked"));
        return call.term;
    }

    private static Term after(Term last, Term next) {
        assertThat(next.fencingToken()).isGreaterThan(last.fencingToken());
        return next;
    }

    private LockClient candidateClient() {
        return LockClient.builder().store(this::open).build();
    }

    private LeadershipListener listener(String candidate) {
        return new LeadershipListener() {
            @Override
            public void onElected(Term term) {
                calls.add(new Call(candidate, true, term));
            }

            @Override
            public void onRevoked(Term term) {
                calls.add(new Call(candidate, false, term));
            }
        };
    }
}
