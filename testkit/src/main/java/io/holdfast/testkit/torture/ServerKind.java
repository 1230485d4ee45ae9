package io.holdfast.testkit.torture;

import java.util.Locale;

/**
 * The kinds of servers that a torture can start.
 *
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/verification.md#3-torture">Torture</a>
 */
public enum ServerKind {
    /** One Redis server, which loses its data when it is killed. */
    SINGLE,
    /** A Redis master with two replicas, watched by three Sentinels. */
    SENTINEL,
    /** A Redis Cluster: three masters with a replica each. */
    CLUSTER,
    /** Three independent Redis servers. */
    REDLOCK,
    /** Three ZooKeeper servers. */
    ZOOKEEPER,
    /** One PostgreSQL server. Needs its JDBC driver. */
    POSTGRESQL,
    /** One PostgreSQL server behind a PgBouncer in transaction mode. Needs PostgreSQL's JDBC driver. */
    PGBOUNCER,
    /** One MariaDB server. Needs its JDBC driver. */
    MARIADB,
    /** One MySQL server. Needs its JDBC driver. */
    MYSQL;

    /**
     * Starts the servers.
     *
     * @throws IllegalStateException if this machine cannot run them; the message says why
     */
    public TortureServers start() {
        return switch (this) {
            case SINGLE -> new SingleRedis();
            case SENTINEL -> new SentinelRedis();
            case CLUSTER -> new ClusteredRedis();
            case REDLOCK -> new QuorumRedis();
            case ZOOKEEPER -> new OwnZooKeeper();
            case POSTGRESQL -> OwnPostgres.start();
            case PGBOUNCER -> OwnPostgres.startPooled();
            case MARIADB -> OwnMariaDb.start();
            case MYSQL -> OwnMariaDb.startMySql();
        };
    }

    /** Returns the name that commands use. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
