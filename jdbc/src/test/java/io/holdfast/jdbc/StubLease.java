package io.holdfast.jdbc;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A lease with a token of the test's choice. It stays valid until the test says otherwise, even while another is valid
 * on the same name: this is the old holder that has not noticed yet.
 */
final class StubLease implements Lease {

    private final String name;
    private final long token;
    private final String holder;
    private volatile boolean lost;

    StubLease(String name, long token) {
        this(name, token, "hf-test:" + token);
    }

    StubLease(String name, long token, String holder) {
        this.name = name;
        this.token = token;
        this.holder = holder;
    }

    void lose() {
        lost = true;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public long fencingToken() {
        return token;
    }

    @Override
    public String holderId() {
        return holder;
    }

    @Override
    public boolean isValid() {
        return !lost;
    }

    @Override
    public Duration remaining() {
        return lost ? Duration.ZERO : Duration.ofSeconds(30);
    }

    @Override
    public void ensureValid() {
        if (lost) {
            throw new LeaseLostException("lost by the test");
        }
    }

    @Override
    public void onLost(Runnable callback) {}

    @Override
    public void release() {}

    @Override
    public void releaseHoldingAtLeast(Duration holdAtLeast) {}

    @Override
    public CompletionStage<Void> releaseHoldingAtLeastAsync(Duration holdAtLeast) {
        return releaseAsync();
    }

    @Override
    public CompletionStage<Void> releaseAsync() {
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public void extend(Duration time) {}

    @Override
    public CompletionStage<Void> extendAsync(Duration time) {
        return CompletableFuture.completedFuture(null);
    }
}
