package io.holdfast.spring.boot;

import io.holdfast.LockStoreException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Reports a store that cannot be reached at startup, in the words of the store. */
final class LockStoreFailureAnalyzer extends AbstractFailureAnalyzer<LockStoreException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, LockStoreException cause) {
        String message = String.valueOf(cause.getMessage());
        return new FailureAnalysis("The store of the locks cannot be used: " + message, wayOut(message), cause);
    }

    private static String wayOut(String message) {
        if (message.contains(" needs the driver ")) {
            return "Add that driver to the dependencies of the application.";
        }
        if (message.contains(" lacks a table of Holdfast ")) {
            return "Make the tables in a migration, or set holdfast.create-table=true for those in the application's"
                    + " database.";
        }
        return "Check that the server is up, and check spring.data.redis.*, spring.datasource.* or holdfast.store. The"
                + " application does not start without its store, because nothing runs without its lock. With"
                + " holdfast.startup=lazy it starts, and calls of locked methods fail until the store is there.";
    }
}
