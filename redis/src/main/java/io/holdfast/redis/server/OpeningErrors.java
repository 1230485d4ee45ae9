package io.holdfast.redis.server;

import static io.holdfast.spi.StoreException.Outcome.FATAL;
import static io.holdfast.spi.StoreException.Outcome.NOT_EXECUTED;

import io.holdfast.redis.RedisMode;
import io.holdfast.redis.server.RedisSettings.Topology;
import io.holdfast.spi.ClassPathFailures;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.StoreException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.protocol.RedisProtocolException;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** Explains why a store could not be opened, with one sentence for each reason and the way out. */
public final class OpeningErrors {

    /**
     * Beginnings of messages of the driver, which has no types for these failures. They choose words, never an outcome.
     */
    private static final String SENTINEL_NOT_CONNECTED = "Cannot connect Redis Sentinel";

    private static final String SENTINEL_NOT_ASKED = "Cannot obtain master";
    private static final String NO_SUCH_MASTER = "Cannot provide redisAddress using sentinel";

    /** The driver's message about a server, with its host or its address, and its port. */
    private static final Pattern NO_CONNECTION =
            Pattern.compile("Unable to connect to \\[?([^/\\s]*)/([^\\s]*):(\\d+)\\]?");

    /**
     * The driver's message when it found no handler, because the channel was closed before it looked. It also decides
     * whether a connect is tried again at once.
     */
    private static final String CLOSED_AT_ONCE = "RedisHandshakeHandler not registered";

    /** The name of the command in a server's error; before 6.0 it stands between other quotes. */
    private static final Pattern UNKNOWN_COMMAND = Pattern.compile("unknown command ['`](\\w+)['`]");

    private final RedisSettings settings;
    private final String server;

    public OpeningErrors(RedisSettings settings) {
        this.settings = settings;
        this.server = settings.describe();
    }

    /** Returns the failure to connect, or to log in. */
    public StoreException notConnected(Throwable error) {
        StoreException classPath = ClassPathFailures.find(error, server);
        if (classPath != null) {
            return classPath;
        }
        LoginProvider.LoginFailure noLogin = find(LoginProvider.LoginFailure.class, error);
        if (noLogin != null) {
            return new StoreException(
                    NOT_EXECUTED,
                    "The credentials provider for " + server + " failed: " + reason(noLogin)
                            + " (correct the provider's settings, or see that it can fetch the login)",
                    error);
        }
        RedisCommandExecutionException refusal = find(RedisCommandExecutionException.class, error);
        if (refusal != null) {
            String said = String.valueOf(refusal.getMessage());
            return says(SENTINEL_NOT_CONNECTED, error) || says(SENTINEL_NOT_ASKED, error)
                    ? refusedByASentinel(said, refusal)
                    : loginRefused(subject(announced(error, refusal)), said, refusal);
        }
        SSLException tls = find(SSLException.class, error);
        if (tls != null) {
            return noTls(announced(error, tls), tls, error);
        }
        RedisProtocolException otherProtocol = find(RedisProtocolException.class, error);
        if (otherProtocol != null) {
            Announced elsewhere = announced(error, otherProtocol);
            return fatal(
                    subject(elsewhere) + " is no Redis: it does not answer in Redis's protocol ("
                            + (elsewhere == null ? "correct host and port" : "let " + announcers() + " announce Redis")
                            + (settings.tls() ? ")" : "; a server with TLS needs rediss://)"),
                    error);
        }
        UnknownHostException unknown = find(UnknownHostException.class, error);
        Announced elsewhere = announced(error, null);
        if (elsewhere != null) {
            return new StoreException(
                    NOT_EXECUTED,
                    subject(elsewhere) + " cannot be reached: "
                            + (unknown == null ? reason(error) : "its host name is unknown")
                            + " (start that server, or let " + announcers()
                            + " announce an address that this client can reach)",
                    error);
        }
        if (unknown != null) {
            return new StoreException(
                    NOT_EXECUTED, server + " cannot be reached: its host name is unknown (correct the URI)", error);
        }
        if (find(TimeoutException.class, error) != null || find(RedisCommandTimeoutException.class, error) != null) {
            return noAnswer(error);
        }
        if (isReasonLost(error)) {
            return new StoreException(
                    NOT_EXECUTED,
                    server
                            + " closed the connection at once, and its reason was lost (it may be full: raise its"
                            + " maxclients, or close connections)",
                    error);
        }
        if (says(NO_SUCH_MASTER, error)) {
            return new StoreException(
                    NOT_EXECUTED,
                    "The Sentinels of " + server + " know no master called "
                            + settings.node().getSentinelMasterId()
                            + " (put the name from their configuration after the # in the URI)",
                    error);
        }
        return new StoreException(
                NOT_EXECUTED,
                server + " cannot be reached: " + reason(error)
                        + " (start the server, or correct host and port"
                        + (settings.tls() ? ")" : "; a server with TLS needs rediss://)"),
                error);
    }

    public StoreException noAnswer(Throwable error) {
        return new StoreException(
                NOT_EXECUTED,
                server + " did not answer within " + DurationText.of(settings.timeout())
                        + " (see that it is a Redis server" + (settings.tls() ? " whose port speaks TLS" : "")
                        + ", that it is not stopped or overloaded, and that no firewall is between)",
                error);
    }

    public StoreException interrupted(InterruptedException error) {
        return new StoreException(NOT_EXECUTED, "Interrupted while connecting to " + server, error);
    }

    public StoreException tooOld(String version) {
        return fatal(
                server + " is Redis " + version + ", which is too old (expected: Redis 5.0 or newer, or Valkey)", null);
    }

    /** Returns the failure of a user that may run no scripts, or none with the store's keys; or of a server without. */
    public StoreException noScripts(String said, Throwable error) {
        if (RedisErrors.isUnknownCommand(said)) {
            Matcher command = UNKNOWN_COMMAND.matcher(said);
            return fatal(
                    server + " has no command " + (command.find() ? command.group(1) : "EVALSHA or EVAL")
                            + ", so it runs no scripts (see rename-command in the server's configuration"
                            + (settings.mode() == RedisMode.LUA ? ", or use mode=commands)" : ")"),
                    error);
        }
        return fatal(
                server + " does not let " + userName() + " run scripts with keys that begin with "
                        + settings.internalPrefix() + ": " + said + " (grant both, for example: ACL SETUSER "
                        + aclName() + " +@scripting ~" + settings.internalPrefix() + ":*)",
                error);
    }

    /**
     * Returns the failure of a user that lacks commands, or of a server that does not have them under their names.
     *
     * @param user what uses the commands, such as "the mode lua"
     * @param refused the missing commands, at least one
     */
    public StoreException noCommands(String user, RefusedCommands refused) {
        List<String> absent = refused.absent();
        if (!absent.isEmpty()) {
            return fatal(
                    server + " has no " + (absent.size() == 1 ? "command " : "commands ")
                            + String.join(" and ", absent) + ", which " + user
                            + " uses (see rename-command in the server's configuration)",
                    null);
        }
        return fatal(
                server + " does not let " + userName() + " run all commands that " + user
                        + " uses (grant them: ACL SETUSER " + aclName() + " " + refused.rights() + ")",
                null);
    }

    /** Returns the failure of a store in mode {@code commands} that should wait for replicas, which it cannot do. */
    public StoreException noReplicasInModeCommands(String why) {
        return fatal(
                server + ": minReplicas needs the mode lua, and this store uses the mode commands, " + why
                        + " (leave out minReplicas, or use mode=lua)",
                null);
    }

    /** Returns the failure of a server with neither scripts nor another way to compare and delete in one step. */
    public StoreException noSafeWay() {
        return fatal(
                server + " offers " + userName()
                        + " nothing that releases a lock safely: no scripts, no DELIFEQ or DELEX"
                        + " with SET IFEQ, and no WATCH with MULTI and EXEC (allow one of these, or use Valkey 9.0 or"
                        + " Redis 8.4 or newer)",
                null);
    }

    private StoreException noTls(@Nullable Announced elsewhere, SSLException tls, Throwable error) {
        String failed = "No TLS connection to "
                + (elsewhere == null ? server : elsewhere.address() + ", " + elsewhere.role() + " announced") + ": "
                + tls.getMessage();
        if (String.valueOf(tls.getMessage()).contains("certificate_required")) {
            return fatal(
                    failed
                            + " (the server requires a client certificate; name it with"
                            + " ?cert=/path/client.pem&key=/path/client.key)",
                    error);
        }
        return fatal(
                failed + " (the certificate must be for "
                        + (elsewhere == null ? settings.hosts() : elsewhere.address()) + " and from "
                        + (settings.ca() == null
                                ? "a CA that the JVM trusts; name another one with ?ca=/path/ca.pem"
                                : "the CA in " + settings.ca())
                        + (elsewhere == null
                                ? ")"
                                : "; or let " + announcers() + " announce a name that the certificate is for)"),
                error);
    }

    /** A server that the driver could not use, and that the URI does not name. */
    private record Announced(String address, String role) {}

    /** Returns a subject of sentences about the server that failed. */
    private String subject(@Nullable Announced elsewhere) {
        return elsewhere == null ? server : elsewhere.address() + ", " + elsewhere.role() + " announced,";
    }

    private String announcers() {
        return settings.topology() == Topology.SENTINEL ? "the Sentinels" : "the nodes";
    }

    /**
     * Returns the server that the driver could not use; null if the URI names that server, or the driver does not tell.
     *
     * @param failure why, a cause of the error; null for any
     */
    private @Nullable Announced announced(Throwable error, @Nullable Throwable failure) {
        Throwable toServer = settings.topology() == Topology.SERVER
                ? null
                : find(
                        cause -> NO_CONNECTION
                                        .matcher(String.valueOf(cause.getMessage()))
                                        .matches()
                                && (failure == null || find(within -> within == failure, cause) != null),
                        error);
        if (toServer == null) {
            return null;
        }
        Matcher matcher = NO_CONNECTION.matcher(String.valueOf(toServer.getMessage()));
        if (!matcher.matches()) {
            return null;
        }
        String address = (matcher.group(1).isEmpty() ? matcher.group(2) : matcher.group(1)) + ":" + matcher.group(3);
        if (List.of(settings.hosts().split(",", -1)).contains(address)) {
            return null;
        }
        return new Announced(
                address,
                settings.topology() == Topology.SENTINEL
                        ? "the master that the Sentinels of " + server
                        : "a node that the cluster " + server);
    }

    private StoreException loginRefused(String subject, String said, Throwable error) {
        if (said.startsWith("NOAUTH")) {
            return fatal(subject + " needs a password (" + settings.passwordAdvice() + ")", error);
        }
        if (isWrongPassword(said)) {
            return fatal(
                    subject + " refused the password of " + userName() + " (user or password is wrong: "
                            + settings.passwordAdvice() + ")",
                    error);
        }
        return new RedisErrors(subject, settings.timeout()).refused(said, error);
    }

    /** Returns the refusal of a Sentinel. Sentinels never get the login of the servers. */
    private StoreException refusedByASentinel(String said, Throwable error) {
        if (said.startsWith("NOAUTH")) {
            return fatal(
                    "The Sentinels of " + server + " need a login of their own (put it into the URI:"
                            + " ?sentinelPassword=password, with sentinelUser=user unless it is the default user)",
                    error);
        }
        if (isWrongPassword(said)) {
            return fatal(
                    "A Sentinel of " + server + " refused its login"
                            + " (correct sentinelUser and sentinelPassword in the URI)",
                    error);
        }
        return new RedisErrors("A Sentinel of " + server, settings.timeout()).refused(said, error);
    }

    private static boolean isWrongPassword(String said) {
        return said.startsWith("WRONGPASS") || said.contains("invalid password");
    }

    private static StoreException fatal(String message, @Nullable Throwable cause) {
        return new StoreException(FATAL, message, cause);
    }

    private String userName() {
        return settings.user() == null ? "the default user" : "the user " + settings.user();
    }

    private String aclName() {
        return settings.user() == null ? "default" : settings.user();
    }

    /**
     * Returns whether the server closed the connection so soon that the driver lost its answer: a new try may get it.
     */
    public static boolean isReasonLost(Throwable error) {
        return says(CLOSED_AT_ONCE, error);
    }

    /** Returns the failure of this type among the causes of a failure; null if there is none. */
    private static <T extends Throwable> @Nullable T find(Class<T> type, Throwable error) {
        return type.cast(find(type::isInstance, error));
    }

    private static boolean says(String words, Throwable error) {
        return find(cause -> String.valueOf(cause.getMessage()).startsWith(words), error) != null;
    }

    /** Also searches the suppressed failures, where the driver puts those of a cluster's nodes and of Sentinels. */
    private static @Nullable Throwable find(Predicate<Throwable> sought, Throwable error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (sought.test(cause)) {
                return cause;
            }
            for (Throwable ofANode : cause.getSuppressed()) {
                Throwable found = find(sought, ofANode);
                if (found != null) {
                    return found;
                }
            }
        }
        return null;
    }

    private static String reason(Throwable error) {
        Throwable last = error;
        while (last.getCause() != null || last.getSuppressed().length > 0) {
            last = last.getCause() != null ? last.getCause() : last.getSuppressed()[0];
        }
        return last.getMessage() == null ? last.getClass().getSimpleName() : last.getMessage();
    }
}
