package io.holdfast.sql;

import io.holdfast.spi.StoreException.Outcome;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.Stream;

/** The tables: whether they are there with all rights, and the script that makes them. */
final class SqlSchema {

    /** Change nothing, and need all the rights that the commands need. */
    private static final List<String> PROBES = List.of(
            "INSERT INTO holdfast_lock (lock_key, base, holder, ends, settings, lease, queue, holders, contended,"
                    + " version, name) SELECT lock_key, base, holder, ends, settings, lease, queue, holders,"
                    + " contended, version, name FROM holdfast_lock WHERE 1 = 0",
            "UPDATE holdfast_lock SET version = version WHERE 1 = 0",
            "DELETE FROM holdfast_lock WHERE 1 = 0",
            "INSERT INTO holdfast_card (client, card, written, heard, ends) SELECT client, card, written, heard, ends"
                    + " FROM holdfast_card WHERE 1 = 0",
            "UPDATE holdfast_card SET card = card WHERE 1 = 0",
            "DELETE FROM holdfast_card WHERE 1 = 0");

    private SqlSchema() {}

    /** @throws io.holdfast.spi.StoreException if a table or a right is missing; the message has the statement to run */
    static void check(Link link, SqlSettings settings, SqlErrors errors) {
        try {
            if (settings.createTable() && lacksTables(link, settings)) {
                create(link, settings, errors);
            } else {
                probe(link);
            }
        } catch (SQLException e) {
            if (!settings.createTable()) {
                throw errors.ofCommand(e);
            }
            create(link, settings, errors);
        }
    }

    /** H2 notes each statement that it refuses in a file beside the database. So it is asked for its tables first. */
    private static boolean lacksTables(Link link, SqlSettings settings) throws SQLException {
        if (settings.kind() != SqlSettings.Kind.H2) {
            return false;
        }
        Long tables = link.first(
                "SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLES WHERE LOWER(TABLE_NAME) IN ('holdfast_lock',"
                        + " 'holdfast_card')",
                row -> row.getLong(1));
        return tables == null || tables == 0;
    }

    /** Tries each right that the commands need, and changes nothing. */
    static void probe(Link link) throws SQLException {
        for (String probe : PROBES) {
            link.update(probe);
        }
    }

    private static void create(Link link, SqlSettings settings, SqlErrors errors) {
        SQLException failure = null;
        for (String statement : statements(settings.kind())) {
            try {
                link.update(statement);
            } catch (SQLException e) {
                // Another client may just have made it: the tables say so, not the error.
                failure = e;
            }
        }
        try {
            probe(link);
        } catch (SQLException e) {
            if (failure == null) {
                throw errors.ofCommand(e);
            }
            throw errors.exception(
                    Outcome.FATAL,
                    "has no tables of Holdfast, and this user cannot make them (" + failure.getMessage()
                            + "); run as the owner: " + oneLine(settings.kind()),
                    failure);
        }
    }

    /** Returns the script as one line. */
    static String oneLine(SqlSettings.Kind kind) {
        return String.join("; ", statements(kind));
    }

    private static List<String> statements(SqlSettings.Kind kind) {
        String script;
        try (InputStream in = SqlSchema.class.getResourceAsStream(kind.script())) {
            if (in == null) {
                throw new IllegalStateException("The jar lacks io/holdfast/sql/" + kind.script());
            }
            script = new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        String bare = script.replaceAll("(?m)^--.*$", "");
        return Stream.of(bare.split(";", -1))
                .map(statement -> statement.replaceAll("\\s+", " ").strip())
                .filter(statement -> !statement.isEmpty())
                .toList();
    }
}
