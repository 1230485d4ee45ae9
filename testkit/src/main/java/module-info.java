/** The contract that every store must pass, launchers for real servers, and tools that break the network. */
module io.holdfast.testkit {
    requires transitive io.holdfast.core;
    requires transitive io.holdfast.history;
    requires transitive org.junit.jupiter.api;
    requires transitive org.junit.jupiter.params;
    requires java.sql;
    requires org.assertj.core;
    requires awaitility;
    requires embedded.redis;
    requires static transitive org.jspecify;

    exports io.holdfast.testkit;
    exports io.holdfast.testkit.contract;
    exports io.holdfast.testkit.faults;
    exports io.holdfast.testkit.servers;
    exports io.holdfast.testkit.torture;

    // JUnit runs the contract's tests, which are package-private.
    opens io.holdfast.testkit.contract to
            org.junit.platform.commons;
}
