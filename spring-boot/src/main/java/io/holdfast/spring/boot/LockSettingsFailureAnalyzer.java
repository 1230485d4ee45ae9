package io.holdfast.spring.boot;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Reports the setting that is wrong, and the way out, without the stack trace. */
final class LockSettingsFailureAnalyzer extends AbstractFailureAnalyzer<LockSettingsException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, LockSettingsException cause) {
        return new FailureAnalysis(
                "The settings of the locks cannot be used: " + cause.getMessage() + ".", cause.wayOut() + ".", cause);
    }
}
