package io.holdfast.spring.boot;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says what to add where locks have no store. */
final class NoLockStoreFailureAnalyzer extends AbstractFailureAnalyzer<NoLockStoreException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, NoLockStoreException cause) {
        return new FailureAnalysis("Locks have no store: " + cause.getMessage() + ".", cause.wayOut() + ".", cause);
    }
}
