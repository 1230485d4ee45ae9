package io.holdfast.engine;

import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewAnswers;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreHealth;
import io.holdfast.spi.StoreListener;
import io.holdfast.spi.StoreState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The names of a store that begin with a prefix, which its caller neither writes nor sees.
 *
 * @param all the store of all names
 */
record PrefixedStore(String prefix, LockStore all) implements LockStore {

    @Override
    public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
        return all.acquire(request.named(prefix + request.name()));
    }

    @Override
    public CompletionStage<RenewReply> renew(RenewRequest request) {
        return all.renew(request.named(prefix + request.name()));
    }

    @Override
    public void renewAll(List<RenewRequest> requests, RenewAnswers answers) {
        List<RenewRequest> named = new ArrayList<>(requests.size());
        requests.forEach(request -> named.add(request.named(prefix + request.name())));
        all.renewAll(named, answers);
    }

    @Override
    public CompletionStage<ReleaseReply> release(ReleaseRequest request) {
        return all.release(request.named(prefix + request.name()));
    }

    @Override
    public CompletionStage<Boolean> abandon(String name, String holderId) {
        return all.abandon(prefix + name, holderId);
    }

    @Override
    public CompletionStage<StoreState> inspect(String name) {
        return all.inspect(prefix + name);
    }

    @Override
    public CompletionStage<ForceReply> forceRelease(String name, @Nullable String holder) {
        return all.forceRelease(prefix + name, holder);
    }

    @Override
    public Duration lateness() {
        return all.lateness();
    }

    @Override
    public Duration recovery() {
        return all.recovery();
    }

    @Override
    public CompletionStage<StoreHealth> health(String name) {
        return all.health(prefix + name);
    }

    @Override
    public void leave(String name, String holderId, BooleanSupplier inUse) {
        all.leave(prefix + name, holderId, inUse);
    }

    @Override
    public String describe() {
        return all.describe();
    }

    @Override
    public void close() {
        all.close();
    }

    @Override
    public void listen(StoreListener listener) {
        // A message about a name without the prefix is not for this store's caller.
        all.listen(StoreListener.renaming(
                listener, name -> name.startsWith(prefix) ? name.substring(prefix.length()) : null));
    }
}
