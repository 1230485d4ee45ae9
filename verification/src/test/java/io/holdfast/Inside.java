package io.holdfast;

import io.holdfast.engine.Engine;
import io.holdfast.engine.EngineSettings;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/** Opens to tests of other packages what {@link LockClient} keeps to its package. */
public final class Inside {

    /** How long a close waits for a leadership's lock to be released. */
    public static final long RELEASE_NANOS = Leadership.RELEASE_TIME.toNanos();

    private Inside() {}

    /** Returns the open engine of a client. */
    public static Engine engine(LockClient client) {
        return client.engine();
    }

    /** Returns the builder with ids, randomness and rules that the test controls. */
    public static LockClient.Builder settings(LockClient.Builder builder, Consumer<EngineSettings> change) {
        return builder.settings(change);
    }

    /**
     * Begins to campaign.
     *
     * @param thread runs the listener's calls one after the other
     */
    public static Leadership leadership(
            LockClient client, String name, LeadershipListener listener, Executor thread, LeaderBug bug) {
        return client.leadership(name, listener, LeadershipOptions.defaults(), thread, bug.terms());
    }

    /** Begins to close a candidate, as its {@code close()} does that waits for the end. */
    public static void beginClose(Leadership candidate) {
        candidate.beginClose();
    }

    /** Begins to close all candidates of a client; completes when they are closed. */
    public static CompletableFuture<Void> closeLeaderships(LockClient client) {
        List<Leadership> candidates = client.leaderships();
        candidates.forEach(Leadership::beginClose);
        return CompletableFuture.allOf(
                candidates.stream().map(Leadership::ended).toArray(CompletableFuture<?>[]::new));
    }
}
