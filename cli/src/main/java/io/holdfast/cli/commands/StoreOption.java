package io.holdfast.cli.commands;

import io.holdfast.CardDetail;
import io.holdfast.LockClient;
import io.holdfast.cli.console.CliException;
import io.holdfast.cli.console.ExitCode;
import io.holdfast.cli.console.Shell;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option {@code --store}, for every command that works on a store. */
final class StoreOption {

    /** The variable that the store is taken from without the option. */
    static final String VARIABLE = "HOLDFAST_STORE";

    private static final String DEFAULT = "redis://127.0.0.1:6379";

    @Option(
            names = "--store",
            paramLabel = "URI",
            description = {
                "Where the locks are; by default $HOLDFAST_STORE,",
                "otherwise " + DEFAULT + ". A password belongs",
                "into the variable: all users can see command lines."
            })
    private @Nullable String uri;

    /** Returns a builder, so that a command can add its own settings. */
    LockClient.Builder client() {
        return LockClient.builder().uri(uri());
    }

    /** Returns a builder of a client that takes locks. A store within this process would exclude no other command. */
    LockClient.Builder taker() {
        String store = uri();
        if (store.toLowerCase(Locale.ROOT).matches("(memory|jdbc:h2:mem):.*")) {
            throw new CliException(
                    ExitCode.USAGE,
                    "--store: " + store.replaceFirst(";.*", "")
                            + " is within this process, so its locks exclude no other one (expected: a"
                            + " server, or the file of jdbc:h2:./locks;AUTO_SERVER=TRUE;createTable=true)");
        }
        return LockClient.builder().uri(store);
    }

    /** Returns a builder of a client that only looks, and therefore has no card. */
    LockClient.Builder viewer() {
        return client().cards(CardDetail.OFF);
    }

    /**
     * Returns the option for another call by the same user, with a blank after it, in the words of a shell; empty if
     * the call does not need it. A URI with a login stays out of it: what is shown ends up in tickets.
     */
    String forShell() {
        if (uri == null) {
            return "";
        }
        return "--store " + (hasLogin(uri) ? "\"$" + VARIABLE + "\"" : Shell.word(uri)) + " ";
    }

    private static boolean hasLogin(String uri) {
        return uri.contains("@") || uri.toLowerCase(Locale.ROOT).contains("password");
    }

    /**
     * Returns the URI of the store. Inside of {@code exec} and {@code leader} there is no default, because they do not
     * pass their store to their command: the default is most likely another store, and nobody else would take these
     * locks there.
     */
    String uri() {
        if (uri != null) {
            return uri;
        }
        String fromEnvironment = System.getenv(VARIABLE);
        if (fromEnvironment != null && !fromEnvironment.isBlank()) {
            return fromEnvironment;
        }
        if (Nesting.isInside()) {
            throw new CliException(
                    ExitCode.USAGE,
                    "--store is missing, and the holdfast around this one does not pass its own (expected: --store"
                            + " here, or --pass-store there)");
        }
        return DEFAULT;
    }
}
