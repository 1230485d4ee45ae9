package io.holdfast.engine;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import io.holdfast.MultiLease;
import io.holdfast.spi.AcquireAllReply;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.PushedGrant;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreState;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A base from which no fencing token can be made is refused, wherever it comes from, and its hold is given back. */
class TokenRangeTest extends EngineFixture {

    private @Nullable Long badBase;

    private final ProbeStore bad = new ProbeStore(new BadBases(server.connect(context("bad"))));
    private final LockClient asking = client("bad", bad, settings -> {});
    private final LockClient other = client("other");

    private StoreContext context(String id) {
        return new StoreContext(id, time);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE, 1L << 49, Long.MAX_VALUE})
    void a_grant(long base) {
        badBase = base;
        CompletableFuture<Lease> lease = acquire(asking, "a", DEFAULTS.waitAtMost(Duration.ofSeconds(1)));
        advance(2_000);

        assertThatThrownBy(lease::join)
                .hasCauseInstanceOf(LockStoreException.class)
                .hasMessageContaining("the base " + base + " of fencing tokens (expected: 1 to 562949953421311")
                .hasMessageContaining("a");
        assertThat(other.tryAcquire("a")).as("given back").isPresent();
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, 1L << 49})
    void grants_together(long base) {
        badBase = base;
        bad.together = true;
        CompletableFuture<MultiLease> leases = asking.acquireAllAsync(
                        List.of("a", "b"), DEFAULTS.waitAtMost(Duration.ofSeconds(1)))
                .toCompletableFuture();
        advance(2_000);

        assertThatThrownBy(leases::join).hasMessageContaining("the base " + base + " of fencing tokens");
        assertThat(other.tryAcquire("a")).as("given back").isPresent();
        assertThat(other.tryAcquire("b")).as("given back").isPresent();
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, 1L << 49})
    void a_pushed_grant(long base) {
        bad.details = true;
        Lease held = now(acquire(other, "a"));
        CompletableFuture<Lease> waiting = acquire(asking, "a", DEFAULTS.waitAtMost(Duration.ofSeconds(1)));
        badBase = base;
        bad.messages = false;
        held.release();
        advance(1);
        PushedGrant said = requireNonNull(bad.pushed);
        requireNonNull(bad.listener)
                .granted(new PushedGrant(
                        said.name(),
                        said.holderId(),
                        base,
                        said.waiting(),
                        said.leaseMillis(),
                        said.nonce(),
                        said.sinceAskingMillis(),
                        said.sameClockSinceNanos()));
        advance(2_000);

        assertThatThrownBy(waiting::join).hasMessageContaining("the base " + base + " of fencing tokens");
        assertThat(other.tryAcquire("a")).as("given back").isPresent();
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, 1L << 49, Long.MIN_VALUE})
    void what_is_inspected(long base) {
        badBase = base;
        Lease held = now(acquire(other, "a"));

        assertThatThrownBy(() -> asking.inspect("a"))
                .isInstanceOf(LockStoreException.class)
                .hasMessageContaining("the base " + base + " of fencing tokens");
        held.release();
    }

    /** A store that keeps holds properly and says another base, if there is one. */
    private final class BadBases extends ForwardingStore {

        BadBases(LockStore store) {
            super(store);
        }

        private Granted spoilt(Granted granted) {
            Long base = badBase;
            return base == null ? granted : new Granted(base, granted.waiting());
        }

        @Override
        public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
            return super.acquire(request)
                    .thenApply(reply -> reply instanceof Granted granted ? spoilt(granted) : reply);
        }

        @Override
        public CompletionStage<AcquireAllReply> acquireAll(List<AcquireRequest> requests) {
            return super.acquireAll(requests)
                    .thenApply(reply -> reply.isTaken()
                            ? AcquireAllReply.taken(
                                    reply.granted().stream().map(this::spoilt).toList())
                            : reply);
        }

        @Override
        public CompletionStage<ReleaseReply> release(ReleaseRequest request) {
            return super.release(request)
                    .thenApply(reply -> reply.requeued() instanceof Granted granted
                            ? new ReleaseReply(reply.wasHeld(), spoilt(granted))
                            : reply);
        }

        @Override
        public CompletionStage<StoreState> inspect(String name) {
            return super.inspect(name)
                    .thenApply(state -> badBase == null
                            ? state
                            : new StoreState(state.holder(), state.remainingMillis(), badBase, state.waiting()));
        }
    }
}
