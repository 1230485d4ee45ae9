package io.holdfast.sql;

import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreException.Outcome;
import java.net.UnknownHostException;
import java.sql.SQLException;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What an error of the database means for the command: whether it may have been executed. In doubt, it may. */
final class SqlErrors {

    /** Ours, for an outcome that the server calls a success: in no list below. */
    static final String UNKNOWN_STATE = "HF000";

    /**
     * Certainly not executed: serialization, deadlock, lock timeout, statement cancelled, idle in transaction, idle
     * session, starting up, a plan that is out of date, read-only.
     */
    private static final Set<String> NOT_EXECUTED =
            Set.of("40001", "40P01", "55P03", "57014", "25P03", "57P03", "57P05", "0A000", "26000", "25006", "HYT00");

    /** Idle, in a transaction or not: PostgreSQL rolls back and ends the session before it reads the next command. */
    private static final Set<String> ENDS_SESSION = Set.of("25P03", "57P05");

    /** Missing: table, column; H2's table, column. Not allowed; H2's right. Wrong login. */
    private static final Set<String> NO_TABLE = Set.of("42P01", "42703", "42S02", "42S03", "42S04", "42S22");

    private static final Pattern TLS = Pattern.compile("(?i)\\b(ssl|tls|certificates?)\\b");

    private static final Set<String> NO_RIGHT = Set.of("42501", "90096");
    private static final Set<String> NO_LOGIN = Set.of("28000", "28P01", "3D000");

    /** MySQL: lock timeout, deadlock, statement timeout of a SELECT, read-only server or transaction. */
    private static final Set<Integer> MYSQL_NOT_EXECUTED = Set.of(1205, 1213, 3024, 1290, 1836, 1792);

    /** MySQL: the server has become read-only. Perhaps the address leads to the new primary now. */
    private static final Set<Integer> MYSQL_READ_ONLY = Set.of(1290, 1836);

    /** MySQL: a right on the table, on a column or on the database; an administrator's right. */
    private static final Set<Integer> MYSQL_NO_RIGHT = Set.of(1142, 1143, 1044, 1227);

    /** MySQL: wrong login, no such database. */
    private static final Set<Integer> MYSQL_NO_LOGIN = Set.of(1045, 1698, 1049);

    private final SqlSettings settings;

    SqlErrors(SqlSettings settings) {
        this.settings = settings;
    }

    /** Returns whether nothing may be sent over the connection after this error. */
    boolean breaksConnection(SQLException error) {
        boolean ended = ENDS_SESSION.contains(state(error)) || is(MYSQL_READ_ONLY, error);
        return ended || !(isNotExecuted(error) || NO_TABLE.contains(state(error)) || isNoRight(error));
    }

    /** MySQL has one state for many errors, so its numbers count. */
    private boolean is(Set<Integer> numbers, SQLException error) {
        return settings.kind().isMySql() && numbers.contains(error.getErrorCode());
    }

    private boolean isNotExecuted(SQLException error) {
        String state = state(error);
        return NOT_EXECUTED.contains(state) || state.startsWith("53") || is(MYSQL_NOT_EXECUTED, error);
    }

    private boolean isNoRight(SQLException error) {
        return NO_RIGHT.contains(state(error)) || is(MYSQL_NO_RIGHT, error);
    }

    StoreException ofCommand(SQLException error) {
        if (NO_TABLE.contains(state(error))) {
            return exception(Outcome.FATAL, noTable(error), error);
        }
        if (isNoRight(error)) {
            return exception(Outcome.FATAL, noRight(error), error);
        }
        boolean not = isNotExecuted(error);
        String what = not ? "did not execute a command" : "may not have executed a command";
        return exception(not ? Outcome.NOT_EXECUTED : Outcome.UNKNOWN, what + ": " + said(error), error);
    }

    StoreException ofConnecting(SQLException error) {
        boolean fatal = NO_LOGIN.contains(state(error)) || is(MYSQL_NO_LOGIN, error);
        String said = said(error);
        boolean tls =
                settings.kind() == SqlSettings.Kind.MARIADB && TLS.matcher(said).find();
        return exception(
                fatal || tls ? Outcome.FATAL : Outcome.NOT_EXECUTED,
                "cannot be connected to: " + said + wayOut(error, said, tls),
                error);
    }

    private static String wayOut(SQLException error, String said, boolean tls) {
        if (isHostUnknown(error)) {
            return " (its host name is unknown: correct the URL)";
        }
        if (tls) {
            return " (the driver asks for TLS: give it the certificate by serverSslCert=…, or set sslMode=disable where"
                    + " nobody else can listen)";
        }
        // PostgreSQL's driver takes a user who may only read for one of a standby.
        return said.contains("targetServerType: primary")
                ? " (it is a standby or read-only; expected: the primary, and ALTER ROLE … SET"
                        + " default_transaction_read_only = off for the user of the URL)"
                : "";
    }

    /** PostgreSQL's driver tells it by the cause alone. */
    private static boolean isHostUnknown(SQLException error) {
        for (Throwable each = error; each != null; each = each.getCause()) {
            if (each instanceof UnknownHostException) {
                return true;
            }
        }
        return false;
    }

    private String noTable(SQLException error) {
        return "lacks a table of Holdfast (" + said(error) + "); run the script io/holdfast/sql/"
                + settings.kind().script() + " of the jar, or open the store once with createTable=true: "
                + SqlSchema.oneLine(settings.kind());
    }

    private String noRight(SQLException error) {
        String grant = "GRANT SELECT, INSERT, UPDATE, DELETE ON holdfast_";
        String user = " TO the user of the URL";
        // MySQL grants rights on one table at a time.
        String both = grant + "lock" + user + "; " + grant + "card" + user;
        return "refuses this user a right (" + said(error) + "); run as the owner: " + both;
    }

    /** Returns an error whose cause is kept only if no part of it shows a password. */
    StoreException exception(Outcome outcome, String what, @Nullable SQLException cause) {
        boolean safe = true;
        for (Throwable each = cause; each != null; each = each.getCause()) {
            safe &= settings.hidden(String.valueOf(each.getMessage())).equals(String.valueOf(each.getMessage()));
        }
        return new StoreException(outcome, settings.shown() + " " + settings.hidden(what), safe ? cause : null);
    }

    private static String said(SQLException error) {
        // H2 repeats the statement, which is no mistake of the user.
        String message = String.valueOf(error.getMessage())
                .replaceAll("\\s+", " ")
                .replaceFirst("; SQL statement:.*(?= \\[\\d+-\\d+])", "")
                .strip();
        String state = state(error);
        return state.isEmpty() ? message : message + " [" + state + "]";
    }

    private static String state(SQLException error) {
        return error.getSQLState() == null ? "" : error.getSQLState();
    }
}
