package io.holdfast.redis.server;

import static io.holdfast.spi.StoreException.Outcome.FATAL;
import static io.holdfast.spi.StoreException.Outcome.NOT_EXECUTED;
import static io.holdfast.spi.StoreException.Outcome.UNKNOWN;

import io.holdfast.spi.DurationText;
import io.holdfast.spi.StoreException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.cluster.PartitionException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Turns the failure of a command into a {@link StoreException}, which says whether the server executed the command, and
 * has one sentence with the server, its error and the way out.
 */
public final class RedisErrors {

    /** A server's refusal, by its error code, or by the beginning of an error that has no code. */
    private record Refusal(String code, StoreException.Outcome outcome, String wayOut) {}

    private static final List<Refusal> REFUSALS = List.of(
            // These last until a person changes something.
            new Refusal("NOAUTH", FATAL, "put the password into the URI, as in redis://:password@host"),
            new Refusal("WRONGPASS", FATAL, "correct user and password in the URI"),
            new Refusal("NOPERM", FATAL, "give this user the rights that the store needs, with ACL SETUSER"),
            new Refusal("WRONGTYPE", FATAL, "some other program uses the same key or prefix; use another name"),
            new Refusal("MOVED", FATAL, "this is a node of a cluster; use redis-cluster:// with the same host"),
            // These pass by themselves.
            new Refusal("LOADING", NOT_EXECUTED, "it has just started; wait"),
            new Refusal("BUSY", NOT_EXECUTED, "a script has been running for too long; see SCRIPT KILL"),
            new Refusal("TRYAGAIN", NOT_EXECUTED, "its slots are being moved; wait"),
            new Refusal("non local key", UNKNOWN, "its slots are being moved, and a script was stopped half-way; wait"),
            new Refusal("READONLY", NOT_EXECUTED, "it is a replica; connect to the master"),
            new Refusal("OOM", NOT_EXECUTED, "raise its maxmemory, or remove keys"),
            new Refusal("NOREPLICAS", NOT_EXECUTED, "see its min-replicas-to-write"),
            new Refusal("MASTERDOWN", NOT_EXECUTED, "it is a replica without a master; connect to the master"),
            new Refusal("CLUSTERDOWN", NOT_EXECUTED, "the cluster does not serve all slots; see CLUSTER INFO"),
            new Refusal("MISCONF", NOT_EXECUTED, "it cannot write its data to disk; see its log"),
            new Refusal("EXECABORT", NOT_EXECUTED, "it refused a command of a transaction"),
            // These are a proxy's (Envoy's), which has no codes.
            new Refusal("no upstream host", NOT_EXECUTED, "the proxy has no server for this lock now; wait"),
            new Refusal("upstream failure", UNKNOWN, "the proxy lost its server before that answered; wait"),
            new Refusal("upstream protocol error", UNKNOWN, "the proxy did not understand what its server answered"));

    /** Beginnings of the driver's messages; it has no types for these failures. */
    private static final String NOT_CONNECTED = "Currently not connected";

    private static final String CLOSED = "Connection is closed";

    /** A part of the server's error, for which it has no code. */
    private static final String FULL = "max number of clients";

    /** Matches the error to a command that the server does not have, alone or in a script. It chooses words only. */
    private static final Pattern UNKNOWN_COMMAND = Pattern.compile(
            "(?:^ERR |user_script: \\d+: )unknown (?:redis |valkey )?command\\b", Pattern.CASE_INSENSITIVE);

    private static final Set<String> OF_REPLICAS = Set.of("READONLY", "MASTERDOWN");

    /** Finds the code anywhere, not only at the start: before 7.0 a script's error is wrapped into another. */
    private static final Pattern CODE = Pattern.compile("(?:^|[^A-Za-z])("
            + String.join("|", REFUSALS.stream().map(Refusal::code).toList()) + ")(?: .*)?$");

    /**
     * Matches the error of a command inside a script, before 7.0 and since. What the script wrote before that command
     * stays, so the outcome is unknown. Errors that a script returns itself are different: it returns them before it
     * writes.
     */
    private static final Pattern IN_SCRIPT =
            Pattern.compile("Error running script|script: (?:[0-9a-f]+, )?on @?user_script:\\d+");

    /** The refusals that apply to a whole run of a script or to its first write only: nothing was written then. */
    private static final Set<String> OF_FIRST_WRITES = Set.of("READONLY", "OOM", "NOREPLICAS", "MISCONF");

    private final String server;
    private final Duration timeout;
    private final boolean cluster;

    /**
     * The refusal of a replica; null since a command was executed. The connection is then cut so that the next one may
     * lead to a master, and commands that fail for lack of a connection name this refusal as the reason.
     */
    private volatile @Nullable StoreException asReplica;

    public RedisErrors(String server, Duration timeout) {
        this(server, timeout, false);
    }

    /** @param cluster whether a redirection passes by itself */
    public RedisErrors(String server, Duration timeout, boolean cluster) {
        this.server = server;
        this.timeout = timeout;
        this.cluster = cluster;
    }

    /** Returns how long one command is waited for. */
    public Duration timeout() {
        return timeout;
    }

    /** Returns the driver's answer, with its failure turned into a {@link StoreException}. */
    public <T> CompletionStage<T> told(CompletionStage<T> answer) {
        CompletableFuture<T> outcome = new CompletableFuture<>();
        answer.whenComplete((reply, error) -> {
            if (error != null) {
                outcome.completeExceptionally(of(error));
            } else {
                outcome.complete(reply);
            }
        });
        return outcome;
    }

    /** Returns the failure of a command of a connected store. */
    public StoreException of(@Nullable Throwable error) {
        Throwable cause = unwrap(error);
        if (cause instanceof StoreException known) {
            return known;
        }
        if (cause instanceof RedisCommandExecutionException) {
            return refused(String.valueOf(cause.getMessage()), cause);
        }
        if (cause instanceof RedisCommandTimeoutException) {
            return new StoreException(UNKNOWN, server + " did not answer within " + DurationText.of(timeout), cause);
        }
        String message = cause == null ? "" : String.valueOf(cause.getMessage());
        if (cause != null && wasNotSent(cause)) {
            return new StoreException(
                    NOT_EXECUTED, orReplica(server + " is not connected") + "; trying to reconnect", cause);
        }
        if (cause instanceof RedisConnectionException || cause instanceof PartitionException) {
            // The driver found or made no connection, so it sent nothing.
            return new StoreException(
                    NOT_EXECUTED, "No server of " + server + " can be reached for this lock now: " + message, cause);
        }
        if (cause instanceof IOException
                || cause instanceof CancellationException
                || (cause instanceof RedisException && message.startsWith("Connection "))) {
            return new StoreException(UNKNOWN, orReplica(server + " cut the connection before it answered"), cause);
        }
        // For any other failure, the server may have executed the command.
        return new StoreException(UNKNOWN, server + " gave no usable answer: " + cause, cause);
    }

    /**
     * Returns the refusal of a replica if this client cut the connection because of one; otherwise the given reason.
     */
    private String orReplica(String otherwise) {
        StoreException replica = asReplica;
        return replica == null ? otherwise : String.valueOf(replica.getMessage());
    }

    /** Records that a command was executed. */
    public void executed() {
        if (asReplica != null) {
            asReplica = null;
        }
    }

    /** Returns the failure for an error that the server answered. */
    public StoreException refused(String said, @Nullable Throwable cause) {
        boolean inScript = IN_SCRIPT.matcher(said).find();
        if (cluster && !inScript && (said.startsWith("MOVED ") || said.startsWith("ASK "))) {
            return new StoreException(
                    NOT_EXECUTED, server + " is moving the slot of this lock: " + said + " (wait)", cause);
        }
        Matcher matcher = CODE.matcher(said);
        if (matcher.find()) {
            String code = matcher.group(1);
            for (Refusal refusal : REFUSALS) {
                if (refusal.code().equals(code)) {
                    String words = said.substring(matcher.start(1));
                    boolean sure = !inScript || OF_FIRST_WRITES.contains(code);
                    StoreException refused = new StoreException(
                            sure ? refusal.outcome() : UNKNOWN,
                            server + " refused: " + words + " (" + refusal.wayOut() + ")",
                            cause);
                    if (!cluster && OF_REPLICAS.contains(code)) {
                        asReplica = refused;
                    }
                    return refused;
                }
            }
        }
        if (said.contains(FULL)) {
            return new StoreException(
                    NOT_EXECUTED,
                    server + " refused: " + said + " (raise its maxclients, or close connections)",
                    cause);
        }
        String wayOut = isUnknownCommand(said) ? " (see rename-command in the server's configuration)" : "";
        return new StoreException(inScript ? UNKNOWN : FATAL, server + " refused: " + said + wayOut, cause);
    }

    /** Returns whether a server's error says that it does not have the command, so that no right to it helps. */
    public static boolean isUnknownCommand(String said) {
        return UNKNOWN_COMMAND.matcher(said).find();
    }

    /** Returns the failure for a key whose type no lock has. */
    public StoreException unusableKey(String name, String type) {
        return new StoreException(
                FATAL,
                "The key \"" + name + "\" at " + server + " is of type " + type
                        + ", so it is no lock (expected: no such key, a hash or a string; use another lock name)",
                null);
    }

    /** Returns the failure for a key of another type: the lock's own, or the counter of its tokens. */
    public StoreException unusable(String key, String type, String counter) {
        return key.equals(counter) ? unusableCounter(key, type) : unusableKey(key, type);
    }

    /** Returns the failure for a counter that is of another type. */
    public StoreException unusableCounter(String key, String type) {
        return new StoreException(
                FATAL,
                "The key \"" + key + "\" at " + server + " is of type " + type
                        + ", so no fencing token can be made (expected: no such key or a number; see who else writes that"
                        + " key, and delete it)",
                null);
    }

    /** Returns the failure for a key that a release by force does not delete. */
    public StoreException notDeleted(String key, String what) {
        return new StoreException(
                FATAL,
                "The key \"" + key + "\" at " + server + " is " + what
                        + ", so it was not deleted (expected: a key that contains only a lock of Holdfast or"
                        + " Redisson, or a string with an expiry; use DEL if nobody needs the key)",
                null);
    }

    /** Returns the failure of a command that came after the store was closed. */
    public StoreException closed(@Nullable Throwable cause) {
        return new StoreException(NOT_EXECUTED, "The store " + server + " is closed", cause);
    }

    /** Returns the failure of a command that was not sent because all connections for WATCH were in use. */
    public StoreException noConnection() {
        return new StoreException(
                NOT_EXECUTED,
                server + " answers so slowly that no connection for WATCH was free within " + DurationText.of(timeout),
                null);
    }

    /** Returns the failure of a command that was not sent because an earlier one failed. */
    public StoreException notExecuted(StoreException before) {
        return before.outcome() == UNKNOWN
                ? new StoreException(NOT_EXECUTED, String.valueOf(before.getMessage()), before)
                : before;
    }

    /** Returns the failure of an acquire that too few replicas confirmed, so that its hold was given back. */
    public StoreException notReplicated(int has, int needed, Duration waited, boolean givenBack) {
        return new StoreException(
                givenBack ? NOT_EXECUTED : UNKNOWN,
                server + " has the lock, but only " + has + " of " + needed + " replicas confirmed it within "
                        + DurationText.of(waited)
                        + (givenBack ? ", so it was given back" : ", and whether it was given back is not known")
                        + " (see that the replicas are connected, or lower minReplicas)",
                null);
    }

    /** Returns the failure of a command that the server executed later than its "not after", twice. */
    public StoreException late() {
        return new StoreException(
                NOT_EXECUTED,
                server + " got the command later than " + DurationText.of(timeout)
                        + " after it was sent, so it did nothing",
                null);
    }

    /** Returns the failure of a comparison that never ended, because other programs kept changing the key. */
    public static StoreException keepsChanging(String key) {
        return new StoreException(
                NOT_EXECUTED,
                "The key \"" + key
                        + "\" was changed by another program during each of several tries, so nothing was done",
                null);
    }

    /** Returns whether a server's error has one of these codes. */
    public static boolean hasCode(@Nullable Throwable error, String... codes) {
        Throwable cause = unwrap(error);
        Matcher matcher = CODE.matcher(cause == null ? "" : String.valueOf(cause.getMessage()));
        return matcher.find() && List.of(codes).contains(matcher.group(1));
    }

    /** Returns whether a command was certainly not executed, for a reason that passes in a cluster within a moment. */
    public static boolean passesSoon(Throwable error) {
        Throwable cause = unwrap(error);
        return cause instanceof RedisCommandExecutionException
                ? hasCode(cause, "TRYAGAIN")
                : cause instanceof RedisException
                        && String.valueOf(cause.getMessage()).startsWith(NOT_CONNECTED);
    }

    /** Returns whether a connection on which a command failed is useless now: cut, or to the wrong server. */
    public static boolean endsConnection(Throwable error) {
        return !(unwrap(error) instanceof RedisCommandExecutionException)
                || hasCode(error, "READONLY", "MASTERDOWN", "MOVED");
    }

    /** Returns whether the keys of a command are at two nodes, because their slot is half moved. */
    public static boolean keysAreApart(@Nullable Throwable error) {
        Throwable cause = unwrap(error);
        while (cause instanceof StoreException && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause instanceof RedisCommandExecutionException && hasCode(cause, "TRYAGAIN");
    }

    public static @Nullable Throwable unwrap(@Nullable Throwable error) {
        Throwable cause = error;
        while ((cause instanceof CompletionException || cause instanceof ExecutionException)
                && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
    }

    /** Returns whether the driver refused a command for lack of a connection, so that it was not written as a whole. */
    public static boolean wasNotSent(Throwable error) {
        Throwable cause = unwrap(error);
        if (!(cause instanceof RedisException) || cause instanceof RedisCommandExecutionException) {
            return false;
        }
        String message = String.valueOf(cause.getMessage());
        return message.startsWith(NOT_CONNECTED) || message.startsWith(CLOSED);
    }
}
