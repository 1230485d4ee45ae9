package io.holdfast.testkit.torture;

import java.util.List;
import java.util.Locale;

/** Servers of a torture's own, and what can happen to them. */
public interface TortureServers extends AutoCloseable {

    /** Which servers there are to torture. */
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
         * Starts them.
         *
         * @throws IllegalStateException if that is not possible here; the message says why
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

        /** As it is written in commands. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** The store, as workers reach it. */
    String uri();

    /** For people. */
    String describe();

    /** Everything that can happen to them. */
    List<TortureFault> faults();

    /** Ends the servers and removes their data. */
    @Override
    void close();
}
