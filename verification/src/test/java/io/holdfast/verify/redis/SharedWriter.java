package io.holdfast.verify.redis;

import io.lettuce.core.RedisChannelWriter;
import io.lettuce.core.protocol.ConnectionFacade;
import io.lettuce.core.protocol.RedisCommand;
import io.lettuce.core.resource.ClientResources;
import java.util.Collection;
import java.util.concurrent.CompletableFuture;

/** A second connection object on a connection that somebody else uses: one of the {@linkplain CommandsBug bugs}. */
final class SharedWriter implements RedisChannelWriter {

    private final SimWriter shared;

    SharedWriter(SimWriter shared) {
        this.shared = shared;
    }

    @Override
    public <K, V, T> RedisCommand<K, V, T> write(RedisCommand<K, V, T> command) {
        return shared.write(command);
    }

    @Override
    public <K, V> Collection<RedisCommand<K, V, ?>> write(Collection<? extends RedisCommand<K, V, ?>> commands) {
        return shared.write(commands);
    }

    @Override
    public void close() {}

    @Override
    public CompletableFuture<Void> closeAsync() {
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public void setConnectionFacade(ConnectionFacade facade) {}

    @Override
    public void setAutoFlushCommands(boolean autoFlush) {}

    @Override
    public void flushCommands() {}

    @Override
    public ClientResources getClientResources() {
        return shared.getClientResources();
    }
}
