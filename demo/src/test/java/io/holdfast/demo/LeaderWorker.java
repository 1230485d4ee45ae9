package io.holdfast.demo;

import io.holdfast.Leadership;
import io.holdfast.LeadershipListener;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.Term;
import io.holdfast.testkit.torture.TortureLock;
import io.holdfast.testkit.torture.TortureWorker;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The main program of a worker process that leads: each use of a name is a term of its leader, or now and then a lease
 * of the lock that leaders hold.
 */
public final class LeaderWorker implements TortureLock {

    private final LockClient client;

    private LeaderWorker(TortureWorker.Setup setup) {
        client = LockClient.builder()
                .uri(setup.uri())
                .leaseTime(setup.lease())
                .lazy()
                .build();
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        TortureWorker.run(LeaderWorker::new);
    }

    @Override
    public Optional<Grip> acquire(String name, Duration wait, @Nullable Duration lease) throws InterruptedException {
        if (lease != null) {
            return client.tryAcquire(
                            "leader:" + name,
                            LockOptions.defaults().waitAtMost(wait).leaseFor(lease))
                    .map(held -> new Grip() {
                        @Override
                        public long token() {
                            return held.fencingToken();
                        }

                        @Override
                        public boolean isValid() {
                            return held.isValid();
                        }

                        @Override
                        public boolean release() {
                            held.release();
                            return true;
                        }
                    });
        }
        CompletableFuture<Term> elected = new CompletableFuture<>();
        Leadership candidate = client.leadership(name, new FirstTerm(elected));
        try {
            Term term = elected.get(wait.toNanos(), TimeUnit.NANOSECONDS);
            return Optional.of(new TermGrip(candidate, term));
        } catch (TimeoutException e) {
            candidate.close();
            return Optional.empty();
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Works in the first term until it is interrupted. */
    private record FirstTerm(CompletableFuture<Term> elected) implements LeadershipListener {

        @Override
        public void onElected(Term term) throws InterruptedException {
            if (elected.complete(term)) {
                Thread.sleep(Long.MAX_VALUE);
            }
        }
    }

    private record TermGrip(Leadership candidate, Term term) implements Grip {

        @Override
        public long token() {
            return term.fencingToken();
        }

        @Override
        public boolean isValid() {
            return term.isValid();
        }

        /** The candidate does not tell whether the store confirmed it. */
        @Override
        public boolean release() {
            candidate.close();
            return false;
        }
    }
}
