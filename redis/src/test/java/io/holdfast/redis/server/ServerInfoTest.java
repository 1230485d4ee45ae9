package io.holdfast.redis.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redis.TestClient;
import io.holdfast.testkit.servers.Installation;
import io.holdfast.testkit.servers.RedisReplication;
import io.holdfast.testkit.servers.RedisServer;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Settings that endanger locks are said when a client connects. */
public class ServerInfoTest {

    @ParameterizedTest
    @MethodSource("io.holdfast.testkit.servers.RedisServer#available")
    void aServerThatEvictsIsSaid(Installation installation) {
        try (RedisServer server =
                RedisServer.builder().installation(installation).start()) {
            assertThat(warnings(server)).isEmpty();
            server.command("CONFIG", "SET", "maxmemory-policy", "volatile-lru");
            assertThat(warnings(server))
                    .containsExactly("redis://" + server.address() + "/0 may evict locks when its memory is full:"
                            + " maxmemory-policy is volatile-lru (set it to noeviction)");
        }
    }

    @Test
    void aReplicaIsSaid() {
        try (RedisReplication all = RedisReplication.builder().replicas(1).start()) {
            RedisServer replica = all.replicas().get(0);
            assertThat(warnings(all.master())).isEmpty();
            assertThat(warnings(replica))
                    .containsExactly("redis://" + replica.address() + "/0 is a replica of "
                            + all.master().address()
                            + ": no lock can be taken there unless it is promoted (connect to the master)");
        }
    }

    @Test
    void aMemberOfAQuorumWithoutALogIsSaid() {
        try (RedisServer server = RedisServer.start()) {
            assertThat(info(server).warningsForQuorum())
                    .containsExactly("forgets its locks when it restarts, and does not vote for the longest lease"
                            + " after that: appendonly is no (set appendonly yes)");
            server.command("CONFIG", "SET", "appendonly", "yes");
            assertThat(info(server).warningsForQuorum()).isEmpty();
        }
    }

    @Test
    void whatIsNotShownIsTakenToBeWell() {
        assertThat(new ServerInfo("").warningsForQuorum()).isEmpty();
        assertThat(new ServerInfo("").version()).isEmpty();
    }

    private static ServerInfo info(RedisServer server) {
        return new ServerInfo(String.valueOf(server.command("INFO")));
    }

    /** What is logged when a client connects. */
    private static List<String> warnings(RedisServer server) {
        List<String> said = new CopyOnWriteArrayList<>();
        Logger logger = Logger.getLogger("io.holdfast.redis");
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord logged) {
                if (logged.getLevel().intValue() >= Level.WARNING.intValue()
                        && logged.getMessage().contains(server.address())) {
                    said.add(logged.getMessage());
                }
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        logger.addHandler(handler);
        logger.setUseParentHandlers(false);
        try {
            new TestClient(server.uri()).close();
        } finally {
            logger.removeHandler(handler);
            logger.setUseParentHandlers(true);
        }
        return said;
    }
}
