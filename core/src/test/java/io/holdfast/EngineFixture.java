package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

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
abstract class EngineFixture {

    static final Duration LEASE = Duration.ofSeconds(3);
    static final LockOptions DEFAULTS = LockOptions.defaults();

    final VirtualTime time = new VirtualTime();
    final MemoryLockStore.Server server = new MemoryLockStore.Server(time);
    final List<LockClient> clients = new ArrayList<>();

    /** What user code ran, in order: callbacks and listener calls run at once here. */
    final List<String> events = new ArrayList<>();

    /** What tests have only the engine's part of: without this it might be reported as forgotten. */
    private final List<Lease> kept = new ArrayList<>();

    final ProbeStore store = probe("one");
    final LockClient client = client("one", store, settings -> {});

    /** Off, so that the only timers are those of locks. */
    CardDetail cards() {
        return CardDetail.OFF;
    }

    ProbeStore probe(String id) {
        return new ProbeStore(server.connect(new StoreContext(id, time)));
    }

    LockClient client(String id) {
        return client(id, probe(id), settings -> {});
    }

    LockClient client(String id, ProbeStore behind, Consumer<EngineSettings> change) {
        LockClient made = LockClient.builder()
                .store(behind)
                .timeSource(time)
                .leaseTime(LEASE)
                .callbackExecutor(Runnable::run)
                .settings(settings -> {
                    settings.clientId = id;
                    settings.cards = cards();
                    settings.random = bound -> bound / 2;
                    change.accept(settings);
                })
                .build();
        clients.add(made);
        return made;
    }

    /** Returns the engine's part of the lease, which must be there, and keeps the user's part. */
    ActiveLease now(CompletionStage<Lease> stage) {
        assertThat(stage.toCompletableFuture()).isCompleted();
        Lease lease = stage.toCompletableFuture().join();
        kept.add(lease);
        return LeaseHandle.active(lease);
    }

    static CompletableFuture<Lease> acquire(LockClient client, String name, LockOptions options) {
        return client.acquireAsync(name, options).toCompletableFuture();
    }

    static CompletableFuture<Lease> acquire(LockClient client, String name) {
        return acquire(client, name, DEFAULTS);
    }

    void advance(long millis) {
        time.advance(Duration.ofMillis(millis));
    }

    @AfterEach
    void nothing_is_left() {
        for (LockClient each : clients) {
            each.engine().closeAsync();
        }
        time.advance(Duration.ofMinutes(2));
        for (LockClient each : clients) {
            assertThat(each.engine().size()).as("names").isZero();
            assertThat(each.engine().renewals.size()).as("holds").isZero();
            assertThat(each.engine().compensation.pending()).as("compensations").isZero();
        }
        assertThat(server.size()).as("names at the server").isZero();
        assertThat(time.pending()).as("timers").isZero();
    }
}
