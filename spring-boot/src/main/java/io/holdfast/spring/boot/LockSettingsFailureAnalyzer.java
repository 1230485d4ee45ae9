package io.holdfast.spring.boot;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says which setting is wrong, and what it may be: its own sentence does. */
final class LockSettingsFailureAnalyzer extends AbstractFailureAnalyzer<LockSettingsException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, LockSettingsException cause) {
        return new FailureAnalysis(
                "The settings of the locks cannot be used: " + cause.getMessage(),
                "Correct holdfast.*, or the LockClientCustomizer that set it.",
                cause);
    }
}
