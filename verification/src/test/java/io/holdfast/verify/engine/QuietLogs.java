package io.holdfast.verify.engine;

import java.util.logging.Level;
import java.util.logging.Logger;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Switches the logs of all modules off while the tests of a class run, which names this in {@link ExtendWith}: a bad
 * network is all that the warnings are about.
 */
public final class QuietLogs implements BeforeAllCallback, AfterAllCallback {

    /** Held, because loggers are collected otherwise. */
    private static final Logger LOG = Logger.getLogger("io.holdfast");

    /** Switches the logs off for as long as this JVM runs. */
    public static void switchOff() {
        LOG.setLevel(Level.OFF);
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        switchOff();
    }

    @Override
    public void afterAll(ExtensionContext context) {
        LOG.setLevel(null);
    }
}
