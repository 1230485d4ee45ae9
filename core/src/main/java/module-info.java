/** The lock API, its engine, the contract of a store, and the in-process store. */
@SuppressWarnings("module") // The module that "exports … to" names is compiled after this one, and may be absent.
module io.holdfast.core {
    // The engine records its events where this module is.
    requires static jdk.jfr;
    // For LockManagement alone.
    requires static transitive java.management;
    requires static transitive org.jspecify;

    exports io.holdfast;
    exports io.holdfast.hold to
            io.holdfast.jdbc,
            io.holdfast.sql;
    exports io.holdfast.jmx;
    exports io.holdfast.leader to
            io.holdfast.cdi,
            io.holdfast.spring;
    exports io.holdfast.memory;
    exports io.holdfast.record to
            io.holdfast.sql;
    exports io.holdfast.spi;

    uses io.holdfast.spi.LockStoreProvider;

    provides io.holdfast.spi.LockStoreProvider with
            io.holdfast.memory.MemoryLockStoreProvider;
}
