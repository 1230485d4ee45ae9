package io.holdfast.spring.startup;

import io.holdfast.spring.declaration.LockedDefinitionException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Reports a {@link io.holdfast.spring.Locked} that cannot work, without the stack trace. */
final class LockedFailureAnalyzer extends AbstractFailureAnalyzer<LockedDefinitionException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, LockedDefinitionException cause) {
        String way = cause.wayOut();
        return new FailureAnalysis(cause.what(), Character.toUpperCase(way.charAt(0)) + way.substring(1) + ".", cause);
    }
}
