package io.holdfast.quorum.memory;

import io.holdfast.quorum.QuorumMember;
import io.holdfast.spi.ForceReply;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** One client's view of a {@link MemoryQuorumNode}. */
final class MemoryQuorumMember implements QuorumMember {

    private final MemoryQuorumNode node;
    private final String clientId;
    private volatile @Nullable Listener listener;

    MemoryQuorumMember(MemoryQuorumNode node, String clientId) {
        this.node = node;
        this.clientId = clientId;
    }

    @Nullable
    Listener listener() {
        return listener;
    }

    @Override
    public CompletionStage<Vote> take(Take take) {
        return node.execute(() -> node.name(take.name()).take(take));
    }

    @Override
    public CompletionStage<Extended> extend(Extension extension) {
        return node.execute(() -> node.name(extension.name()).extend(extension));
    }

    @Override
    public CompletionStage<Released> release(String name, String id, boolean wake) {
        return node.execute(() -> node.name(name).release(id, wake));
    }

    @Override
    public CompletionStage<Boolean> leave(String name) {
        return node.execute(() -> node.name(name).leave(clientId));
    }

    @Override
    public CompletionStage<Written> commit(String name, String id, long token) {
        return node.execute(() -> node.name(name).commit(id, token));
    }

    @Override
    public CompletionStage<Seen> inspect(String name) {
        return node.execute(() -> node.name(name).inspect());
    }

    @Override
    public CompletionStage<ForceReply> forceRelease(String name, @Nullable String holder) {
        return node.execute(() -> node.name(name).forceRelease(holder));
    }

    @Override
    public CompletionStage<Identity> identify() {
        return node.execute(node::identity);
    }

    @Override
    public CompletionStage<Standing> admit(long quarantineMillis) {
        return node.execute(() -> node.admit(quarantineMillis));
    }

    @Override
    public void listen(@Nullable Listener receiver) {
        listener = receiver;
    }

    @Override
    public String describe() {
        return node.describe();
    }

    @Override
    public void close() {
        listener = null;
        node.disconnect(clientId, this);
    }
}
