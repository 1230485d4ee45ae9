package io.holdfast.testkit.torture;

import java.util.List;
import java.util.Locale;

/**
 * The servers of a torture, and their faults.
 *
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/verification.md#3-torture">Torture</a>
 */
public interface TortureServers extends AutoCloseable {

    /** The kinds of servers. */
    enum Kind {
        /** One Redis server, which loses its data when it is killed. */
        SINGLE,
        /** A Redis master with two replicas, watched by three Sentinels. */
        SENTINEL,
        /** A Redis Cluster: three masters with a replica each. */
        CLUSTER,
        /** Three independent Redis servers. */
        REDLOCK,
        /** Three ZooKeeper servers. */
        ZOOKEEPER;

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
            };
        }

        /** Returns the name that commands use. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Returns the store URI for the workers. */
    String uri();

    /** Returns a description for people. */
    String describe();

    /** Returns all faults of these servers. */
    List<TortureFault> faults();

    /** Ends the servers and removes their data. */
    @Override
    void close();
}
