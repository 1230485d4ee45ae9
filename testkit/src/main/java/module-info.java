/** The contract that every store must pass, launchers for real servers, and tools that break the network. */
module io.holdfast.testkit {
    requires transitive io.holdfast.core;
    requires transitive io.holdfast.history;
    requires transitive org.junit.jupiter.api;
    requires transitive org.junit.jupiter.params;
    requires org.assertj.core;
    requires awaitility;
    requires embedded.redis;
    requires static transitive org.jspecify;

    exports io.holdfast.testkit;
    exports io.holdfast.testkit.torture;

    // JUnit runs the contract's tests, which are package-private.
    opens io.holdfast.testkit to
            org.junit.platform.commons;
}
