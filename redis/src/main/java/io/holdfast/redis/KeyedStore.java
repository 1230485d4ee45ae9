package io.holdfast.redis;

import io.holdfast.redis.connect.StageGuard;
import io.holdfast.redis.server.LockKeys;
import io.holdfast.spi.AcquireAllReply;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.CardStore;
import io.holdfast.spi.Finding;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.RecordStore;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewAnswers;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreHealth;
import io.holdfast.spi.StoreListener;
import io.holdfast.spi.StoreState;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Translates between lock names and Redis keys. The engine above knows names. The store below takes the key of a lock
 * for its name in every command, message and error, so that slots, tags and channels follow from the key alone. A name
 * that is refused fails the stage of its command.
 */
final class KeyedStore implements LockStore {

    private final LockStore below;
    private final LockKeys keys;
    private final Optional<CardStore> cards;

    /** Takes the key of a lock. */
    private final Function<String, CompletionStage<List<Finding>>> diagnosis;

    /** The view of pools, translated, once somebody asked for it; null if the store below has none. */
    private final AtomicReference<@Nullable KeyedStore> pools = new AtomicReference<>();

    /** @param cards not translated, because cards name locks as users do */
    KeyedStore(
            LockStore below,
            LockKeys keys,
            Optional<CardStore> cards,
            Function<String, CompletionStage<List<Finding>>> diagnosis) {
        this.below = below;
        this.keys = keys;
        this.cards = cards;
        this.diagnosis = diagnosis;
    }

    /** Returns the translated store, for tests. */
    LockStore below() {
        return below;
    }

    @Override
    public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
        return StageGuard.begin(() -> below.acquire(keyed(request)));
    }

    @Override
    public boolean canAcquireAll(List<String> names) {
        try {
            return below.canAcquireAll(names.stream().map(keys::of).toList());
        } catch (StoreException refused) {
            // The engine then acquires the names one by one, and the refused name fails.
            return false;
        }
    }

    @Override
    public CompletionStage<AcquireAllReply> acquireAll(List<AcquireRequest> requests) {
        return StageGuard.begin(() ->
                        below.acquireAll(requests.stream().map(this::keyed).toList()))
                .thenApply(reply -> {
                    String busy = reply.isTaken() ? null : keys.nameOf(reply.busy());
                    return busy == null ? reply : AcquireAllReply.busy(busy, reply.remainingMillis());
                });
    }

    @Override
    public CompletionStage<RenewReply> renew(RenewRequest request) {
        return StageGuard.begin(() -> below.renew(keyed(request)));
    }

    @Override
    public void renewAll(List<RenewRequest> requests, RenewAnswers answers) {
        // Refuses none: no hold has a name that was refused.
        below.renewAll(
                keys.areNames() ? requests : requests.stream().map(this::keyed).toList(), answers);
    }

    @Override
    public CompletionStage<ReleaseReply> release(ReleaseRequest request) {
        return StageGuard.begin(() -> below.release(request.named(keys.of(request.name()))));
    }

    @Override
    public CompletionStage<Boolean> abandon(String name, String holderId) {
        return StageGuard.begin(() -> below.abandon(keys.of(name), holderId));
    }

    @Override
    public CompletionStage<StoreState> inspect(String name) {
        return StageGuard.begin(() -> below.inspect(keys.of(name)));
    }

    @Override
    public CompletionStage<ForceReply> forceRelease(String name, @Nullable String holder) {
        return StageGuard.begin(() -> below.forceRelease(keys.of(name), holder));
    }

    @Override
    public Duration lateness() {
        return below.lateness();
    }

    @Override
    public Duration recovery() {
        return below.recovery();
    }

    @Override
    public CompletionStage<StoreHealth> health(String name) {
        return StageGuard.begin(() -> below.health(keys.of(name)));
    }

    @Override
    public Optional<CardStore> cards() {
        return cards;
    }

    @Override
    public Optional<RecordStore> records() {
        return below.records().map(Records::new);
    }

    @Override
    public Optional<LockStore> pools() {
        if (pools.get() == null) {
            below.pools()
                    .ifPresent(
                            view -> pools.compareAndSet(null, new KeyedStore(view, keys, Optional.empty(), diagnosis)));
        }
        return Optional.ofNullable(pools.get());
    }

    @Override
    public CompletionStage<List<Finding>> diagnose(String name) {
        return StageGuard.begin(() -> diagnosis.apply(keys.of(name)));
    }

    @Override
    public void listen(StoreListener listener) {
        // Other clients may publish any text, so a key without a name is dropped.
        below.listen(StoreListener.renaming(listener, keys::nameOf));
    }

    @Override
    public String describe() {
        return below.describe();
    }

    @Override
    public void close() {
        below.close();
    }

    @Override
    public String toString() {
        return below.toString();
    }

    private AcquireRequest keyed(AcquireRequest request) {
        return request.named(keys.of(request.name()));
    }

    private RenewRequest keyed(RenewRequest request) {
        return request.named(keys.of(request.name()));
    }

    private final class Records implements RecordStore {

        private final RecordStore records;

        Records(RecordStore records) {
            this.records = records;
        }

        @Override
        public CompletionStage<Optional<String>> find(String name) {
            return StageGuard.begin(() -> records.find(keys.of(name)));
        }

        @Override
        public CompletionStage<Boolean> keep(String name, String holderId, String text, Duration keepFor) {
            return StageGuard.begin(() -> records.keep(keys.of(name), holderId, text, keepFor));
        }
    }
}
