package io.holdfast.spring.boot;

import io.holdfast.LockStoreException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** A store that cannot be reached at start-up: its own sentence says it best. */
final class LockStoreFailureAnalyzer extends AbstractFailureAnalyzer<LockStoreException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, LockStoreException cause) {
        return new FailureAnalysis(
                "The store of the locks cannot be used: " + cause.getMessage(),
                "Check spring.data.redis.*, or holdfast.store, and that the server is up. Nothing runs without its lock, so the"
                        + " application does not start without them.",
                cause);
    }
}
