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
 * Says what became of a command that failed: whether it was executed, and one sentence with the server, what it said and
 * the way out.
 */
public final class RedisErrors {

    /** A server's refusal, by the word that begins its error. */
    private record Refusal(String code, StoreException.Outcome outcome, String wayOut) {}

    private static final List<Refusal> REFUSALS = List.of(
            // First those that stay until somebody changes something.
            new Refusal("NOAUTH", FATAL, "put the password into the URI, as in redis://:password@host"),
            new Refusal("WRONGPASS", FATAL, "correct user and password in the URI"),
            new Refusal("NOPERM", FATAL, "give this user the rights that the store needs, with ACL SETUSER"),
            new Refusal("WRONGTYPE", FATAL, "some other program uses the same key or prefix; use another name"),
            new Refusal("MOVED", FATAL, "this is a node of a cluster; use redis-cluster:// with the same host"),
            // Then those that pass.
            new Refusal("LOADING", NOT_EXECUTED, "it has just started; wait"),
            new Refusal("BUSY", NOT_EXECUTED, "somebody's script runs for too long; see SCRIPT KILL"),
            new Refusal("TRYAGAIN", NOT_EXECUTED, "its slots are being moved; wait"),
            new Refusal("non local key", UNKNOWN, "its slots are being moved, and a script was stopped half-way; wait"),
            new Refusal("READONLY", NOT_EXECUTED, "it is a replica; connect to the master"),
            new Refusal("OOM", NOT_EXECUTED, "raise its maxmemory, or remove keys"),
            new Refusal("NOREPLICAS", NOT_EXECUTED, "see its min-replicas-to-write"),
            new Refusal("MASTERDOWN", NOT_EXECUTED, "it is a replica without a master; connect to the master"),
            new Refusal("CLUSTERDOWN", NOT_EXECUTED, "the cluster does not serve all slots; see CLUSTER INFO"),
            new Refusal("MISCONF", NOT_EXECUTED, "it cannot write its data to disk; see its log"),
            new Refusal("EXECABORT", NOT_EXECUTED, "it refused a command of a transaction"),
            // A proxy's (Envoy), in front of the server.
            new Refusal("no upstream host", NOT_EXECUTED, "the proxy has no server for this lock now; wait"),
            new Refusal("upstream failure", UNKNOWN, "the proxy lost its server before that answered; wait"),
            new Refusal("upstream protocol error", UNKNOWN, "the proxy did not understand what its server answered"));

    private static final Set<String> OF_REPLICAS = Set.of("READONLY", "MASTERDOWN");

    /** Not at the start only: before 7.0 a script's error is wrapped into another. */
    private static final Pattern CODE = Pattern.compile("(?:^|[^A-Za-z])("
            + String.join("|", REFUSALS.stream().map(Refusal::code).toList()) + ")(?: .*)?$");

    /**
     * The error of a command inside a script, before 7.0 and since. What the script wrote before that command stays, so the
     * outcome is unknown. An error that a script returns is another matter: it found that before it wrote.
     */
    private static final Pattern IN_SCRIPT =
            Pattern.compile("Error running script|script: (?:[0-9a-f]+, )?on @?user_script:\\d+");

    /**
     * Refusals that hold for a whole run of a script, or meet its first write only: nothing was written then.
     */
    private static final Set<String> OF_FIRST_WRITES = Set.of("READONLY", "OOM", "NOREPLICAS", "MISCONF");

    private final String server;
    private final Duration timeout;
    private final boolean cluster;

    /**
     * What the server said when it refused a command as a replica; null since it has executed one. The connection is cut
     * then, in the hope of a master: what fails for want of a connection then fails because of this.
     */
    private volatile @Nullable StoreException asReplica;

    public RedisErrors(String server, Duration timeout) {
        this(server, timeout, false);
    }

    /** @param cluster whether a redirection is something that passes */
    public RedisErrors(String server, Duration timeout, boolean cluster) {
        this.server = server;
        this.timeout = timeout;
        this.cluster = cluster;
    }

    /** The driver's answer; a failure of the driver's is one of the store's. */
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

    /** Why a command of a connected store failed. */
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
            return new StoreException(NOT_EXECUTED, notConnected(server + " is not connected"), cause);
        }
        if (cause instanceof RedisConnectionException || cause instanceof PartitionException) {
            // It is about making a connection, or finding one: nothing was sent.
            return new StoreException(
                    NOT_EXECUTED, "No server of " + server + " can be reached for this lock now: " + message, cause);
        }
        if (cause instanceof IOException
                || cause instanceof CancellationException
                || (cause instanceof RedisException && message.startsWith("Connection "))) {
            return new StoreException(UNKNOWN, cut(server + " cut the connection before it answered"), cause);
        }
        // Whatever else: nothing says that the server has not executed it.
        return new StoreException(UNKNOWN, server + " gave no usable answer: " + cause, cause);
    }

    private String notConnected(String otherwise) {
        return cut(otherwise) + "; trying to reconnect";
    }

    /** Why there is no connection: perhaps because this client has cut it. */
    private String cut(String otherwise) {
        StoreException replica = asReplica;
        return replica == null ? otherwise : String.valueOf(replica.getMessage());
    }

    /** A command was executed. */
    public void executed() {
        if (asReplica != null) {
            asReplica = null;
        }
    }

    /** What the server said no to. */
    public StoreException refused(String said, @Nullable Throwable cause) {
        if (cluster && (said.startsWith("MOVED ") || said.startsWith("ASK "))) {
            return new StoreException(
                    NOT_EXECUTED, server + " is moving the slot of this lock: " + said + " (wait)", cause);
        }
        boolean inScript = IN_SCRIPT.matcher(said).find();
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
        if (said.contains("max number of clients")) {
            return new StoreException(
                    NOT_EXECUTED,
                    server + " refused: " + said + " (raise its maxclients, or close connections)",
                    cause);
        }
        return new StoreException(inScript ? UNKNOWN : FATAL, server + " refused: " + said, cause);
    }

    /** A key that no lock of anybody's is kept in. */
    public StoreException unusableKey(String name, String type) {
        return new StoreException(
                FATAL,
                "The key \"" + name + "\" at " + server + " is of type " + type
                        + ", so it is no lock (expected: no such key, a hash or a string; use another lock name)",
                null);
    }

    /** A key that force does not delete. */
    public StoreException notDeleted(String key, String what) {
        return new StoreException(
                FATAL,
                "The key \"" + key + "\" at " + server + " is " + what
                        + ", so it was not deleted (expected: a lock of Holdfast's or Redisson's alone, or a string with an"
                        + " expiry; use DEL if nobody needs the key)",
                null);
    }

    /** The command was not sent, because there is nothing to send it with any more. */
    public StoreException closed(@Nullable Throwable cause) {
        return new StoreException(NOT_EXECUTED, "The store " + server + " is closed", cause);
    }

    /** The command was not sent: others had all the connections that could have carried it. */
    public StoreException noConnection() {
        return new StoreException(
                NOT_EXECUTED,
                server + " has answered so late that no connection for WATCH was free within "
                        + DurationText.of(timeout),
                null);
    }

    /** The failure of a command that came before the one in question, which was not sent then. */
    public StoreException notExecuted(StoreException before) {
        return before.outcome() == UNKNOWN
                ? new StoreException(NOT_EXECUTED, String.valueOf(before.getMessage()), before)
                : before;
    }

    /** Too few replicas have the new hold, which was given back. */
    public StoreException notReplicated(int has, int needed, Duration waited, boolean givenBack) {
        return new StoreException(
                givenBack ? NOT_EXECUTED : UNKNOWN,
                server + " has the lock, but only " + has + " of " + needed + " replicas confirmed it within "
                        + DurationText.of(waited)
                        + (givenBack ? ", so it was given back" : ", and whether it was given back is not known")
                        + " (see that the replicas are connected, or lower minReplicas)",
                null);
    }

    /** The server executed a command later than its "not after", twice. */
    public StoreException late() {
        return new StoreException(
                NOT_EXECUTED,
                server + " got the command later than " + DurationText.of(timeout)
                        + " after it was sent, so it did nothing",
                null);
    }

    /** A comparison that never came to its end, because others change the key all the time. */
    public static StoreException keepsChanging(String key) {
        return new StoreException(
                NOT_EXECUTED,
                "The key \"" + key
                        + "\" was changed by somebody else during each of several tries, so nothing was done",
                null);
    }

    /** Whether a command was surely not executed, for a reason that a cluster gets over in a moment. */
    public static boolean passesSoon(Throwable error) {
        Throwable cause = unwrap(error);
        String message = cause == null ? "" : String.valueOf(cause.getMessage());
        return cause instanceof RedisCommandExecutionException
                ? message.contains("TRYAGAIN ")
                : cause instanceof RedisException && message.startsWith("Currently not connected");
    }

    /** Whether a connection on which a command failed is of no use any more: cut, or to the wrong server. */
    public static boolean endsConnection(Throwable error) {
        Throwable cause = unwrap(error);
        String message = cause == null ? "" : String.valueOf(cause.getMessage());
        return !(cause instanceof RedisCommandExecutionException)
                || message.contains("READONLY ")
                || message.contains("MASTERDOWN ")
                || message.contains("MOVED ");
    }

    /** Whether the keys of a command are at two nodes, because their slot is half moved. */
    public static boolean keysAreApart(@Nullable Throwable error) {
        Throwable cause = unwrap(error);
        while (cause instanceof StoreException && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause instanceof RedisCommandExecutionException
                && String.valueOf(cause.getMessage()).contains("TRYAGAIN ");
    }

    public static @Nullable Throwable unwrap(@Nullable Throwable error) {
        Throwable cause = error;
        while ((cause instanceof CompletionException || cause instanceof ExecutionException)
                && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
    }

    /** Refused by the driver, for want of a connection: not written, or not as a whole. */
    public static boolean wasNotSent(Throwable error) {
        Throwable cause = unwrap(error);
        if (!(cause instanceof RedisException) || cause instanceof RedisCommandExecutionException) {
            return false;
        }
        String message = String.valueOf(cause.getMessage());
        return message.startsWith("Currently not connected") || message.startsWith("Connection is closed");
    }
}
