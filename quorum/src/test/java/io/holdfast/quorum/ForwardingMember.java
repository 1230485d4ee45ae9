package io.holdfast.quorum;

import io.holdfast.spi.ForceReply;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Forwards to another member, except what a test overrides. */
class ForwardingMember implements QuorumMember {

    final QuorumMember member;

    ForwardingMember(QuorumMember member) {
        this.member = member;
    }

    @Override
    public CompletionStage<Vote> take(Take take) {
        return member.take(take);
    }

    @Override
    public CompletionStage<Extended> extend(Extension extension) {
        return member.extend(extension);
    }

    @Override
    public CompletionStage<Released> release(String name, String id, boolean wake) {
        return member.release(name, id, wake);
    }

    @Override
    public CompletionStage<Boolean> leave(String name) {
        return member.leave(name);
    }

    @Override
    public CompletionStage<Written> commit(String name, String id, long token) {
        return member.commit(name, id, token);
    }

    @Override
    public CompletionStage<Seen> inspect(String name) {
        return member.inspect(name);
    }

    @Override
    public CompletionStage<ForceReply> forceRelease(String name, @Nullable String holder) {
        return member.forceRelease(name, holder);
    }

    @Override
    public CompletionStage<Identity> identify() {
        return member.identify();
    }

    @Override
    public CompletionStage<Standing> admit(long quarantineMillis) {
        return member.admit(quarantineMillis);
    }

    @Override
    public void listen(@Nullable Listener listener) {
        member.listen(listener);
    }

    @Override
    public String describe() {
        return member.describe();
    }

    @Override
    public void close() {
        member.close();
    }
}
