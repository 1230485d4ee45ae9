package io.holdfast.zookeeper;

import static io.holdfast.spi.StoreException.Outcome.FATAL;
import static io.holdfast.spi.StoreException.Outcome.NOT_EXECUTED;
import static io.holdfast.spi.StoreException.Outcome.UNKNOWN;

import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.ClassPathFailures;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.StoreException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertPathValidatorException.BasicReason;
import java.security.cert.CertPathValidatorException.Reason;
import java.security.cert.PKIXReason;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/** Translates a failure into what it means for the command, with a message for people. */
final class ZooKeeperErrors {

    /** The CA is unknown, or another one has its name. */
    private static final Set<Reason> NOT_TRUSTED = Set.of(PKIXReason.NO_TRUST_ANCHOR, BasicReason.INVALID_SIGNATURE);

    private final ZooKeeperSettings settings;

    ZooKeeperErrors(ZooKeeperSettings settings) {
        this.settings = settings;
    }

    StoreException of(Throwable error) {
        Throwable cause = unwrap(error);
        if (cause instanceof StoreException known) {
            return known;
        }
        if (!(cause instanceof KeeperException said)) {
            return new StoreException(UNKNOWN, settings.describe() + ": " + cause, cause);
        }
        String where = settings.describe() + ": ";
        return switch (said.code()) {
            case CONNECTIONLOSS, OPERATIONTIMEOUT, REQUESTTIMEOUT ->
                new StoreException(UNKNOWN, where + "the connection was lost before the answer came", said);
            case SESSIONEXPIRED, SESSIONMOVED, SESSIONCLOSEDREQUIRESASLAUTH ->
                new StoreException(NOT_EXECUTED, where + "the session is over; a new one is being made", said);
            case NOAUTH ->
                new StoreException(
                        FATAL,
                        where
                                + (settings.login() == null
                                        ? "nobody without a login may use the node " + said.getPath()
                                                + " (put user:password@ before the hosts in the URI)"
                                        : "the user " + user(settings.login())
                                                + " does not have the right to use the node " + said.getPath()
                                                + " (correct user and password in the URI, or the node's ACL)"),
                        said);
            case AUTHFAILED ->
                new StoreException(FATAL, where + "the login was refused (correct user and password in the URI)", said);
            case INVALIDACL ->
                new StoreException(
                        FATAL, where + "the servers refuse the ACL (use another acl option, or another login)", said);
            case QUOTAEXCEEDED, THROTTLEDOP, NOTREADONLY ->
                new StoreException(NOT_EXECUTED, where + "refused: " + said.code(), said);
            default -> new StoreException(UNKNOWN, where + "failed: " + said.getMessage(), said);
        };
    }

    /** @param most the largest capacity that a request may have */
    StoreException noShare(AcquireRequest request, int most) {
        return new StoreException(
                FATAL,
                settings.describe() + ": weight " + request.weight() + " of capacity " + request.capacity()
                        + " (expected: a weight from 1 to the capacity, and a capacity of at most " + most + ")",
                null);
    }

    StoreException equalNumbers(Folder folder, String node, String other) {
        return new StoreException(
                FATAL,
                settings.describe() + ": the nodes " + node.substring(node.lastIndexOf('/') + 1) + " and " + other
                        + " of " + folder.described() + " have the same number, so nobody knows which came first"
                        + " (delete the node that no Holdfast client made)",
                null);
    }

    /** @param foreign the name of a node in the folder */
    StoreException notOurs(Folder folder, String foreign) {
        return new StoreException(
                FATAL,
                full(folder) + ", but the node " + folder.path(foreign) + " is not Holdfast's (delete that node)",
                null);
    }

    StoreException notRemovable(Folder folder, Throwable error) {
        return new StoreException(
                NOT_EXECUTED,
                full(folder) + ", but the login in the URI may not delete it (grant the right to delete in "
                        + settings.folder()
                        + ", or wait: the servers remove an empty folder, once a minute by default)",
                unwrap(error));
    }

    private String full(Folder folder) {
        return settings.describe() + ": the servers have numbered more than " + QueueSnapshot.LIMIT + " nodes of "
                + folder.described() + ", so its folder must be removed";
    }

    StoreException disconnected() {
        return new StoreException(
                NOT_EXECUTED,
                settings.describe()
                        + ": no server can be reached, or they have no majority; the client continues to connect",
                null);
    }

    StoreException closed() {
        return new StoreException(FATAL, settings.describe() + ": the store is closed", null);
    }

    StoreException late() {
        return new StoreException(
                UNKNOWN, settings.describe() + ": no answer within " + DurationText.of(settings.timeout()), null);
    }

    /** @param reason what the connector found; null for nothing */
    StoreException unreachable(long millis, @Nullable Throwable reason) {
        if (reason instanceof TlsProbe.Failure tls) {
            return noTls(tls);
        }
        StoreException classPath = reason == null ? null : ClassPathFailures.find(reason, settings.describe());
        return classPath != null
                ? classPath
                : new StoreException(
                        NOT_EXECUTED,
                        settings.describe() + " cannot be reached within "
                                + DurationText.of(Duration.ofMillis(millis))
                                + " (start the servers, a majority of them must run; or correct hosts and ports"
                                + (settings.tls()
                                        ? "; the ports must speak TLS, and " + clientCertificate() + ")"
                                        : "; servers with TLS need tls=true)"),
                        reason);
    }

    private StoreException noTls(TlsProbe.Failure failure) {
        String server = failure.server();
        Throwable last = failure;
        boolean unknownCa = false;
        boolean otherHost = false;
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            last = cause;
            unknownCa |= cause instanceof CertPathBuilderException
                    || (cause instanceof CertPathValidatorException path && NOT_TRUSTED.contains(path.getReason()));
            otherHost |= cause instanceof SSLPeerUnverifiedException || isOtherHost(String.valueOf(cause.getMessage()));
        }
        String said = String.valueOf(last.getMessage());
        String why = said;
        String way = "correct ca= and cert= in the URI";
        if (unknownCa) {
            why = "its certificate is not from "
                    + (settings.ca() == null ? "a CA that the JVM trusts" : "a CA in " + settings.ca());
            way = "name the right CA with ca=/path/ca.pem";
        } else if (otherHost) {
            why = "its certificate is not for this host: " + said;
            way = "write a host of the certificate into the URI, or add this host to the certificate";
        } else if (said.contains("Unsupported or unrecognized SSL message")) {
            why = "the port does not speak TLS";
            way = "name the servers' secureClientPort, or leave out tls=true";
        } else if (failure.isRefused()) {
            why = "it refused this client: " + said;
            way = clientCertificate();
        }
        return new StoreException(
                FATAL,
                settings.describe() + ": no TLS connection to " + server + ": " + why + " (" + way + ")",
                failure);
    }

    /** The JDK has no type for this. Its words choose the advice, never an outcome. */
    private static boolean isOtherHost(String said) {
        return said.startsWith("No subject alternative") || said.startsWith("No name matching");
    }

    private String clientCertificate() {
        return settings.cert() == null
                ? "if the servers want a client certificate, cert= must name one"
                : "the servers must trust " + settings.cert();
    }

    StoreException interrupted(InterruptedException error) {
        return new StoreException(NOT_EXECUTED, "Interrupted while connecting to " + settings.describe(), error);
    }

    static boolean is(Throwable error, Code code) {
        return unwrap(error) instanceof KeeperException said && said.code() == code;
    }

    /** Returns whether the command may have been executed. */
    static boolean isUnknown(Throwable error) {
        return !(unwrap(error) instanceof KeeperException said)
                || said.code() == Code.CONNECTIONLOSS
                || said.code() == Code.OPERATIONTIMEOUT
                || said.code() == Code.REQUESTTIMEOUT;
    }

    static Throwable unwrap(Throwable error) {
        Throwable cause = error;
        while ((cause instanceof CompletionException || cause instanceof ExecutionException)
                && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
    }

    private static String user(String login) {
        return login.substring(0, Math.max(0, login.indexOf(':')));
    }
}
