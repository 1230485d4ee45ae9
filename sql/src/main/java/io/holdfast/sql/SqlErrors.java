package io.holdfast.sql;

import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreException.Outcome;
import java.sql.SQLException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What an error of the database means for the command: whether it may have been executed. In doubt, it may. */
final class SqlErrors {

    /** Ours, for an outcome that the server calls a success: in no list below. */
    static final String UNKNOWN_STATE = "HF000";

    /**
     * Certainly not executed: serialization, deadlock, lock timeout, statement cancelled, idle in transaction, starting
     * up, a plan that is out of date, read-only.
     */
    private static final Set<String> NOT_EXECUTED =
            Set.of("40001", "40P01", "55P03", "57014", "25P03", "57P03", "0A000", "26000", "25006", "HYT00");

    /** Missing: table, column; H2's table, column. Not allowed; H2's right. Wrong login. */
    private static final Set<String> NO_TABLE = Set.of("42P01", "42703", "42S02", "42S03", "42S04", "42S22");

    private static final Set<String> NO_RIGHT = Set.of("42501", "90096");
    private static final Set<String> NO_LOGIN = Set.of("28000", "28P01", "3D000");

    private final SqlSettings settings;

    SqlErrors(SqlSettings settings) {
        this.settings = settings;
    }

    /** Returns whether nothing may be sent over the connection after this error. */
    static boolean breaksConnection(SQLException error) {
        String state = state(error);
        return !NOT_EXECUTED.contains(state) && !NO_TABLE.contains(state) && !NO_RIGHT.contains(state);
    }

    StoreException ofCommand(SQLException error) {
        String state = state(error);
        if (NO_TABLE.contains(state)) {
            return exception(Outcome.FATAL, noTable(error), error);
        }
        if (NO_RIGHT.contains(state)) {
            return exception(Outcome.FATAL, noRight(error), error);
        }
        boolean not = NOT_EXECUTED.contains(state) || state.startsWith("53");
        String what = not ? "did not execute a command" : "may not have executed a command";
        return exception(not ? Outcome.NOT_EXECUTED : Outcome.UNKNOWN, what + ": " + said(error), error);
    }

    StoreException ofConnecting(SQLException error) {
        boolean fatal = NO_LOGIN.contains(state(error));
        return exception(fatal ? Outcome.FATAL : Outcome.NOT_EXECUTED, "cannot be connected to: " + said(error), error);
    }

    private String noTable(SQLException error) {
        return "lacks a table of Holdfast (" + said(error) + "); run the script io/holdfast/sql/"
                + settings.kind().script() + " of the jar, or open the store once with createTable=true: "
                + SqlSchema.oneLine(settings.kind());
    }

    private String noRight(SQLException error) {
        return "refuses this user a right (" + said(error)
                + "); run as the owner: GRANT SELECT, INSERT, UPDATE, DELETE ON holdfast_lock, holdfast_card TO the"
                + " user of the URL";
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
        String message =
                String.valueOf(error.getMessage()).replaceAll("\\s+", " ").strip();
        String state = state(error);
        return state.isEmpty() ? message : message + " [" + state + "]";
    }

    private static String state(SQLException error) {
        return error.getSQLState() == null ? "" : error.getSQLState();
    }
}
