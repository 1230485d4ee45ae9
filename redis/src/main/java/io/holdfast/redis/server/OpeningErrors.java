package io.holdfast.redis.server;

import static io.holdfast.spi.StoreException.Outcome.FATAL;
import static io.holdfast.spi.StoreException.Outcome.NOT_EXECUTED;

import io.holdfast.spi.DurationText;
import io.holdfast.spi.StoreException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.protocol.RedisProtocolException;
import java.net.UnknownHostException;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** Says why a store could not be opened: one sentence each, with the way out. */
public final class OpeningErrors {

    /** Of what the driver says, which has no types for it. */
    private static final String SENTINEL_NOT_CONNECTED = "Cannot connect Redis Sentinel";

    private static final String SENTINEL_NOT_ASKED = "Cannot obtain master";
    private static final String NO_SUCH_MASTER = "Cannot provide redisAddress using sentinel";

    private final RedisSettings settings;
    private final String server;

    public OpeningErrors(RedisSettings settings) {
        this.settings = settings;
        this.server = settings.describe();
    }

    /** No connection, or none that the server lets us use. */
    public StoreException notConnected(Throwable error) {
        RedisCommandExecutionException refusal = find(RedisCommandExecutionException.class, error);
        if (refusal != null) {
            String said = String.valueOf(refusal.getMessage());
            return isOfASentinel(error) ? refusedByASentinel(said, refusal) : loginRefused(said, refusal);
        }
        SSLException tls = find(SSLException.class, error);
        if (tls != null && String.valueOf(tls.getMessage()).contains("certificate_required")) {
            return new StoreException(
                    FATAL,
                    "No TLS connection to " + server + ": " + tls.getMessage()
                            + " (it wants a certificate from its clients; name it with"
                            + " ?cert=/path/client.pem&key=/path/client.key)",
                    error);
        }
        if (tls != null) {
            return new StoreException(
                    FATAL,
                    "No TLS connection to " + server + ": " + tls.getMessage() + " (the certificate must be for "
                            + settings.hosts() + " and from "
                            + (settings.ca() == null
                                    ? "a CA that the JVM trusts; name another one with ?ca=/path/ca.pem)"
                                    : "the CA in " + settings.ca() + ")"),
                    error);
        }
        if (find(RedisProtocolException.class, error) != null) {
            return new StoreException(
                    FATAL,
                    server + " is no Redis: it does not answer in Redis's protocol (correct host and port"
                            + (settings.tls() ? ")" : "; a server with TLS needs rediss://)"),
                    error);
        }
        UnknownHostException unknown = find(UnknownHostException.class, error);
        if (unknown != null) {
            return new StoreException(
                    NOT_EXECUTED, server + " cannot be reached: its host name is unknown (correct the URI)", error);
        }
        if (find(TimeoutException.class, error) != null || find(RedisCommandTimeoutException.class, error) != null) {
            return noAnswer(error);
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
        return new StoreException(
                FATAL,
                server + " is Redis " + version + ", which is too old (expected: Redis 5.0 or newer, or Valkey)",
                null);
    }

    /** Whether keys were refused, and not the command. */
    public static boolean isAboutKeys(String said) {
        return said.startsWith("NOPERM") && said.contains(" key");
    }

    /** No script at all, or none with our keys. */
    public StoreException noScripts(String said, Throwable error) {
        boolean keys = isAboutKeys(said);
        return new StoreException(
                FATAL,
                server + " does not let " + userName()
                        + (keys ? " use keys that begin with " + settings.internalPrefix() + ": " : " run scripts: ")
                        + said
                        + " (grant them, for example: ACL SETUSER " + aclName()
                        + (keys ? " ~" + settings.internalPrefix() + ":*)" : " +@scripting)"),
                error);
    }

    /**
     * Returns the error of a user that lacks commands of the scripts.
     *
     * @param rights the missing ones, as {@code ACL SETUSER} takes them
     */
    public StoreException noCommands(String rights) {
        return new StoreException(
                FATAL,
                server + " does not let " + userName() + " run all commands that the scripts use"
                        + " (grant them: ACL SETUSER " + aclName() + " " + rights + ")",
                null);
    }

    /**
     * Returns the error of a user that lacks commands of the mode without scripts.
     *
     * @param rights the missing ones, as {@code ACL SETUSER} takes them
     */
    public StoreException noPlainCommands(String rights) {
        return new StoreException(
                FATAL,
                server + " does not let " + userName() + " run all commands that locks without scripts need"
                        + " (grant them: ACL SETUSER " + aclName() + " " + rights + ")",
                null);
    }

    /** Whose locks would be taken for replicated though nobody waited for replicas. */
    public StoreException noReplicasWithoutScripts(String why) {
        return new StoreException(
                FATAL,
                server + ": minReplicas is for locks kept by scripts, and here they are kept without, " + why
                        + " (leave out minReplicas, or use mode lua)",
                null);
    }

    /** Neither scripts nor anything else that compares and deletes in one step. */
    public StoreException noSafeWay() {
        return new StoreException(
                FATAL,
                server + " offers " + userName()
                        + " nothing that releases a lock safely: no scripts, no DELIFEQ or DELEX"
                        + " with SET IFEQ, and no WATCH with MULTI and EXEC (allow one of these, or use Valkey 9.0 or"
                        + " Redis 8.4 or newer)",
                null);
    }

    private StoreException loginRefused(String said, Throwable error) {
        if (said.startsWith("NOAUTH")) {
            return new StoreException(FATAL, server + " needs a password (" + settings.passwordAdvice() + ")", error);
        }
        if (isWrongPassword(said)) {
            return new StoreException(
                    FATAL,
                    server + " refused the password of " + userName() + " (correct user and password in the URI)",
                    error);
        }
        return new RedisErrors(server, settings.timeout()).refused(said, error);
    }

    private static boolean isOfASentinel(Throwable error) {
        return says(SENTINEL_NOT_CONNECTED, error) || says(SENTINEL_NOT_ASKED, error);
    }

    /** Sentinels never get the login of the servers. */
    private StoreException refusedByASentinel(String said, Throwable error) {
        if (said.startsWith("NOAUTH")) {
            return new StoreException(
                    FATAL,
                    "The Sentinels of " + server + " need a login of their own (put it into the URI:"
                            + " ?sentinelPassword=password, with sentinelUser=user unless it is the default user)",
                    error);
        }
        if (isWrongPassword(said)) {
            return new StoreException(
                    FATAL,
                    "A Sentinel of " + server + " refused its login"
                            + " (correct sentinelUser and sentinelPassword in the URI)",
                    error);
        }
        return new RedisErrors("A Sentinel of " + server, settings.timeout()).refused(said, error);
    }

    private static boolean isWrongPassword(String said) {
        return said.startsWith("WRONGPASS") || said.contains("invalid password");
    }

    private String userName() {
        return settings.user() == null ? "the default user" : "the user " + settings.user();
    }

    private String aclName() {
        return settings.user() == null ? "default" : settings.user();
    }

    private static <T extends Throwable> @Nullable T find(Class<T> type, Throwable error) {
        return type.cast(find(type::isInstance, error));
    }

    /** Whether a message in a failure, or in one of a cluster's nodes or Sentinels, begins so. */
    public static boolean says(String words, Throwable error) {
        return find(cause -> String.valueOf(cause.getMessage()).startsWith(words), error) != null;
    }

    /** Also among what a cluster's nodes, or Sentinels, said, which the driver adds to its own failure as suppressed. */
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
