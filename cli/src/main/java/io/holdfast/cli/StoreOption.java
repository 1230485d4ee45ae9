package io.holdfast.cli;

import io.holdfast.LockClient;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option {@code --store}, for every command that works on one. */
final class StoreOption {

    private static final String DEFAULT = "redis://127.0.0.1:6379";

    @Option(
            names = "--store",
            paramLabel = "URI",
            description = {
                "Where the locks are; by default $HOLDFAST_STORE,",
                "else " + DEFAULT + ". A password belongs",
                "into the variable: all users can see command lines."
            })
    private @Nullable String uri;

    /** A client that is not built yet, so that a command can set what is its own. */
    LockClient.Builder client() {
        return LockClient.builder().uri(uri());
    }

    private String uri() {
        if (uri != null) {
            return uri;
        }
        String fromEnvironment = System.getenv("HOLDFAST_STORE");
        return fromEnvironment == null || fromEnvironment.isBlank() ? DEFAULT : fromEnvironment;
    }
}
