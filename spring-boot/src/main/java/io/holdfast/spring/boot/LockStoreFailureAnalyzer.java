package io.holdfast.spring.boot;

import io.holdfast.LockStoreException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Reports a store that cannot be reached at startup, in the words of the store. */
final class LockStoreFailureAnalyzer extends AbstractFailureAnalyzer<LockStoreException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, LockStoreException cause) {
        return new FailureAnalysis(
                "The store of the locks cannot be used: " + cause.getMessage(),
                "Check that the server is up, and check spring.data.redis.*, spring.datasource.* or holdfast.store. If the"
                        + " tables of the locks are missing in the application's database, make them in a migration,"
                        + " or set holdfast.create-table=true. The application does"
                        + " not start without its store, because nothing runs without its lock. With"
                        + " holdfast.startup=lazy it starts, and calls of locked methods fail until the store is"
                        + " there.",
                cause);
    }
}
