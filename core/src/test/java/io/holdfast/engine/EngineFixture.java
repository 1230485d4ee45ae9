package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.CardDetail;
import io.holdfast.Inside;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockListener;
import io.holdfast.LockOptions;
import io.holdfast.memory.MemoryLockStore;
import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.StoreContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;

/**
 * Clients of one memory store under virtual time, each behind a {@link ProbeStore}. After each test the engines are
 * checked for what they must not leave behind.
 */
public abstract class EngineFixture {

    protected static final Duration LEASE = Duration.ofSeconds(3);
    protected static final LockOptions DEFAULTS = LockOptions.defaults();

    protected final VirtualTime time = new VirtualTime();
    protected final MemoryLockStore.Server server = new MemoryLockStore.Server(time);
    protected final List<LockClient> clients = new ArrayList<>();

    /** What user code ran, in order: callbacks and listener calls run at once here. */
    protected final List<String> events = new ArrayList<>();

    /** What tests have only the engine's part of: without this it might be reported as forgotten. */
    private final List<Lease> kept = new ArrayList<>();

    protected final ProbeStore store = probe("one");
    protected final LockClient client = client("one", store, settings -> {});

    /** Off, so that the only timers are those of locks. */
    protected CardDetail cards() {
        return CardDetail.OFF;
    }

    protected ProbeStore probe(String id) {
        return new ProbeStore(server.connect(new StoreContext(id, time)));
    }

    protected LockClient client(String id) {
        return client(id, probe(id), settings -> {});
    }

    protected LockClient client(String id, ProbeStore behind, Consumer<EngineSettings> change) {
        LockClient.Builder builder = LockClient.builder()
                .store(behind)
                .timeSource(time)
                .leaseTime(LEASE)
                .callbackExecutor(Runnable::run);
        LockClient made = Inside.settings(builder, settings -> {
                    settings.clientId = id;
                    settings.cards = cards();
                    settings.random = bound -> bound / 2;
                    change.accept(settings);
                })
                .build();
        clients.add(made);
        return made;
    }

    /** Makes a client whose listener adds to the events what was acquired and released. */
    protected LockClient heardClient() {
        LockClient heard = LockClient.builder()
                .store(server::connect)
                .timeSource(time)
                .callbackExecutor(Runnable::run)
                .listener(new LockListener() {
                    @Override
                    public void acquired(String name, long token, Duration waited) {
                        events.add("acquired " + name);
                    }

                    @Override
                    public void released(String name, long token, Duration held) {
                        events.add("released " + name);
                    }
                })
                .build();
        clients.add(heard);
        return heard;
    }

    protected static void assertBusy(CompletableFuture<?> waiting) {
        assertThat(waiting).isNotDone();
    }

    /** Returns the engine's part of the lease, which must be there, and keeps the user's part. */
    protected ActiveLease now(CompletionStage<Lease> stage) {
        assertThat(stage.toCompletableFuture()).isCompleted();
        Lease lease = stage.toCompletableFuture().join();
        kept.add(lease);
        return LeaseHandle.active(lease);
    }

    protected static CompletableFuture<Lease> acquire(LockClient client, String name, LockOptions options) {
        return client.acquireAsync(name, options).toCompletableFuture();
    }

    protected static CompletableFuture<Lease> acquire(LockClient client, String name) {
        return acquire(client, name, DEFAULTS);
    }

    protected void advance(long millis) {
        time.advance(Duration.ofMillis(millis));
    }

    @AfterEach
    protected void nothing_is_left() {
        for (LockClient each : clients) {
            Inside.engine(each).closeAsync();
        }
        time.advance(Duration.ofMinutes(2));
        for (LockClient each : clients) {
            assertThat(Inside.engine(each).size()).as("names").isZero();
            assertThat(Inside.engine(each).renewals.size()).as("holds").isZero();
            assertThat(Inside.engine(each).compensation.pending())
                    .as("compensations")
                    .isZero();
            PoolEngine pools = Inside.engine(each).pools();
            assertThat(pools.lanes()).as("lanes").isZero();
            assertThat(pools.renewals.size()).as("permits").isZero();
            assertThat(pools.compensation.pending())
                    .as("compensations of permits")
                    .isZero();
        }
        assertThat(server.size()).as("names at the server").isZero();
        assertThat(time.pending()).as("timers").isZero();
    }
}
