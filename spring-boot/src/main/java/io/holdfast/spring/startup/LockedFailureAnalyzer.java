package io.holdfast.spring.startup;

import io.holdfast.spring.declaration.LockedDefinitionException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Reports a {@link io.holdfast.spring.Locked} that cannot work, without the stack trace. */
final class LockedFailureAnalyzer extends AbstractFailureAnalyzer<LockedDefinitionException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, LockedDefinitionException cause) {
        // The way out may begin with the name of a setting or an attribute, so it keeps its letters.
        return new FailureAnalysis(cause.what(), "Expected: " + cause.wayOut() + ".", cause);
    }
}
