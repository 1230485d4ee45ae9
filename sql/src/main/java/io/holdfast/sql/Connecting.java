package io.holdfast.sql;

import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreException.Outcome;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * Opens connections. All settings are in the start packet or in a statement, never in a SET for the session: behind a
 * pooler that would reach other applications.
 */
final class Connecting {

    private static final System.Logger LOG = System.getLogger("io.holdfast.sql");

    private static final int OLDEST_POSTGRES = 130_000;

    /** The first version that can end sessions outside of a transaction because nobody uses them. */
    private static final int IDLE_SESSION_TIMEOUT = 140_000;

    /**
     * PostgreSQL does not count the dead rows of a name, which an old snapshot keeps. In a table of few names it would
     * collect all rows of the name and sort them, or read the whole table, to find the newest one. A plan that has to sort
     * all the same would look so costly that PostgreSQL would compile it.
     */
    private static final String OPTIONS = "-c lock_timeout=1s -c statement_timeout=2s"
            + " -c default_transaction_isolation=read\\ committed -c enable_sort=off -c enable_seqscan=off -c jit=off";

    private static final int OLDEST_H2 = 2;
    private static final int TITLE_CHARS = 50;
    private static final String NETWORK_TIMEOUT = "NETWORK_TIMEOUT";

    /** Of H2. */
    private static final String UNKNOWN_SETTING = "90113";

    /** What is asked of a new connection to PostgreSQL. */
    private record Server(
            boolean standby, int pid, int number, String version, String synchronous, long clockMicros, boolean fits) {}

    private final Driver driver;
    private final SqlSettings settings;
    private final StoreContext context;
    private final SqlErrors errors;

    /** Set once the server, the pooler before it, or an old driver of H2 has refused them. */
    private volatile boolean withoutOptions;

    /** Whether a pooler is between: its sessions are other clients', too. */
    private volatile boolean pooled;

    private volatile boolean noticed;

    Connecting(Driver driver, SqlSettings settings, StoreContext context, SqlErrors errors) {
        this.driver = driver;
        this.settings = settings;
        this.context = context;
        this.errors = errors;
    }

    boolean isPooled() {
        return pooled;
    }

    /** @throws StoreException if there is no connection, or one to a server that cannot keep locks */
    Link connect() {
        Link link = null;
        try {
            link = new Link(open(), context.time());
            switch (settings.kind()) {
                case POSTGRESQL -> checkPostgres(link);
                case H2 -> checkH2(link);
                case MYSQL, MARIADB -> notice(MySqlServer.check(link, errors));
            }
            return link;
        } catch (SQLException e) {
            close(link);
            throw errors.ofConnecting(e);
        } catch (StoreException e) {
            close(link);
            throw e;
        } catch (RuntimeException e) {
            // The application cannot tell its password now, or the driver has a defect: both may be over soon.
            close(link);
            throw errors.ofConnecting(new SQLException(e.toString(), e));
        }
    }

    /** Logs what an operator should know of the server, once. */
    private void notice(@Nullable String notice) {
        if (notice != null && !noticed) {
            noticed = true;
            LOG.log(System.Logger.Level.WARNING, settings.shown() + " " + notice);
        }
    }

    private static void close(@Nullable Link link) {
        if (link != null) {
            link.close();
        }
    }

    private Connection open() throws SQLException {
        try {
            return connected(properties());
        } catch (SQLException e) {
            boolean refused = String.valueOf(e.getMessage()).contains("unsupported startup parameter")
                    || UNKNOWN_SETTING.equals(e.getSQLState());
            if (!refused || withoutOptions) {
                throw e;
            }
            withoutOptions = true;
            return connected(properties());
        }
    }

    private Connection connected(Properties properties) throws SQLException {
        Connection connection = driver.connect(settings.url(), properties);
        if (connection == null) {
            throw new SQLException("the driver does not know this URL", "08001");
        }
        if (!connection.getAutoCommit()) {
            connection.setAutoCommit(true);
        }
        return connection;
    }

    private Properties properties() {
        Properties properties = new Properties();
        if (settings.kind() == SqlSettings.Kind.POSTGRESQL) {
            properties.setProperty("ApplicationName", program(context.title().replaceAll("[^\\x20-\\x7e]", "?")));
            properties.setProperty("tcpKeepAlive", "true");
            properties.setProperty("connectTimeout", "" + SqlSettings.CONNECT_TIMEOUT.toSeconds());
            properties.setProperty("socketTimeout", "" + SqlSettings.SOCKET_TIMEOUT.toSeconds());
            properties.setProperty("targetServerType", "primary");
            if (!withoutOptions) {
                properties.setProperty("options", OPTIONS);
            }
        } else if (settings.kind() == SqlSettings.Kind.H2) {
            if (!withoutOptions && !settings.has(NETWORK_TIMEOUT)) {
                // By default the driver waits for a stopped server without end.
                properties.setProperty(NETWORK_TIMEOUT, "" + SqlSettings.SOCKET_TIMEOUT.toMillis());
            }
        } else {
            properties.setProperty("tcpKeepAlive", "true");
            String title = context.title().replaceAll("[^A-Za-z0-9._-]", "-");
            properties.setProperty(
                    "connectionAttributes", "program_name:" + program(title).replace(':', '/'));
            properties.setProperty("connectTimeout", "" + SqlSettings.CONNECT_TIMEOUT.toMillis());
            properties.setProperty("socketTimeout", "" + SqlSettings.SOCKET_TIMEOUT.toMillis());
            if (settings.kind() == SqlSettings.Kind.MYSQL) {
                // After a failover the primary is not the first of several hosts: write there, and stay there.
                properties.setProperty("failOverReadOnly", "false");
                properties.setProperty("queriesBeforeRetrySource", "0");
                properties.setProperty("secondsBeforeRetrySource", "0");
            }
        }
        settings.given().addTo(properties);
        return properties;
    }

    private static String program(String title) {
        String shown = title.isEmpty() ? "holdfast" : "holdfast:" + title;
        return shown.substring(0, Math.min(shown.length(), TITLE_CHARS));
    }

    private void checkPostgres(Link link) throws SQLException {
        long sent = link.nanoTime();
        Server server = link.first(
                "SELECT pg_is_in_recovery(), pg_backend_pid(), current_setting('server_version_num')::INT, version(),"
                        + " current_setting('synchronous_commit'), " + LockTable.standardMicros("clock_timestamp()")
                        + ", current_setting('server_encoding') = 'UTF8'",
                Connecting::server);
        if (server == null) {
            throw new SQLException("the server says nothing about itself", "08001");
        }
        String version = server.version().toLowerCase(Locale.ROOT);
        for (String other : new String[] {"cockroach", "-yb-", "yugabyte"}) {
            if (version.contains(other)) {
                throw errors.exception(
                        Outcome.FATAL,
                        "is no PostgreSQL but a database of several clocks, by which a lease has no certain end"
                                + " (expected: PostgreSQL 13 or newer)",
                        null);
            }
        }
        if (server.number() < OLDEST_POSTGRES) {
            throw errors.exception(
                    Outcome.FATAL, "is PostgreSQL " + server.number() / 10_000 + " (expected: 13 or newer)", null);
        }
        if (!server.fits()) {
            throw errors.exception(Outcome.FATAL, "does not store all characters (expected: encoding UTF8)", null);
        }
        if (server.standby()) {
            throw errors.exception(
                    Outcome.NOT_EXECUTED, "is a standby, which keeps no locks (expected: the primary)", null);
        }
        if (server.synchronous().equals("off")) {
            throw errors.exception(
                    Outcome.FATAL,
                    "has synchronous_commit off, so a crash of the server would forget locks that were taken"
                            + " (expected: ALTER ROLE … SET synchronous_commit = on for the user of the URL)",
                    null);
        }
        link.clockWas(server.clockMicros(), sent);
        if (PostgresPooler.isBetween(link.connection(), server.pid())) {
            pooled = true;
            // A prepared statement would belong to another client's session soon.
            PostgresPooler.prepareNothing(link.connection());
        } else if (server.number() >= IDLE_SESSION_TIMEOUT) {
            // Ours are few and idle most of the time: an administrator's limit is for forgotten sessions.
            link.update("SET idle_session_timeout = 0");
        }
    }

    private static Server server(ResultSet row) throws SQLException {
        return new Server(
                row.getBoolean(1),
                row.getInt(2),
                row.getInt(3),
                row.getString(4),
                row.getString(5),
                row.getLong(6),
                row.getBoolean(7));
    }

    private void checkH2(Link link) throws SQLException {
        int major = link.connection().getMetaData().getDatabaseMajorVersion();
        if (major < OLDEST_H2) {
            throw errors.exception(Outcome.FATAL, "is H2 " + major + " (expected: 2 or newer)", null);
        }
        // By default a commit is written to the disk some time later: a lock would be forgotten with the process.
        Long delay = link.first(
                "SELECT CAST(SETTING_VALUE AS BIGINT) FROM INFORMATION_SCHEMA.SETTINGS WHERE SETTING_NAME = 'WRITE_DELAY'",
                row -> row.getLong(1));
        if (delay == null || delay != 0) {
            try {
                link.update("SET WRITE_DELAY 0");
            } catch (SQLException e) {
                throw errors.exception(
                        Outcome.FATAL,
                        "writes a commit to the disk later, so a crash would forget locks that were taken; run as the"
                                + " owner: SET WRITE_DELAY 0",
                        e);
            }
        }
        link.isSession("SELECT CAST(SESSION_START AS VARCHAR) FROM INFORMATION_SCHEMA.SESSIONS WHERE SESSION_ID ="
                + " SESSION_ID()");
        long sent = link.nanoTime();
        Long micros = link.first("SELECT " + LockTable.standardMicros("CURRENT_TIMESTAMP(6)"), row -> row.getLong(1));
        link.clockWas(micros == null ? 0 : micros, sent);
    }
}
