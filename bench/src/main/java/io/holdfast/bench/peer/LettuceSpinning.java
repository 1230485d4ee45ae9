package io.holdfast.bench.peer;

import io.lettuce.core.RedisFuture;
import java.util.concurrent.CompletionStage;

/** A hand-written lock on plain Lettuce: one command takes it, one gives it back. */
abstract class LettuceSpinning extends Spinning {

    final LettuceClient redis;

    LettuceSpinning(String uri) {
        redis = new LettuceClient(uri);
    }

    abstract RedisFuture<?> sendTake(String name, String holder);

    abstract RedisFuture<?> sendRelease(String name, String holder);

    @Override
    final boolean take(String name, String holder) {
        return LettuceClient.isDone(sendTake(name, holder).toCompletableFuture().join());
    }

    @Override
    final void release(String name, String holder) {
        sendRelease(name, holder).toCompletableFuture().join();
    }

    @Override
    public final CompletionStage<?> pair(String name) {
        String holder = newHolder();
        return sendTake(name, holder).thenCompose(reply -> sendRelease(name, holder));
    }

    @Override
    public void close() {
        redis.close();
    }
}
