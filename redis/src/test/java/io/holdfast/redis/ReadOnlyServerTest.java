package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import io.holdfast.testkit.servers.RedisReplication;
import io.holdfast.testkit.servers.RedisServer;
import org.junit.jupiter.api.Test;

/** A client that was led to a replica says so, whatever it does in the meantime to be led elsewhere. */
class ReadOnlyServerTest {

    @Test
    void aWaitAtAReplicaEndsWithThatReason() {
        try (RedisReplication all = RedisReplication.builder().replicas(1).start()) {
            RedisServer replica = all.replicas().get(0);
            try (LockClient client = LockClient.builder().uri(replica.uri()).build()) {
                // The client cuts the connection after a refusal, so that a name server can lead it to the master: some
                // of
                // these find no connection.
                for (int i = 0; i < 200; i++) {
                    assertThatThrownBy(() -> client.tryAcquire("n"))
                            .isInstanceOf(LockStoreException.class)
                            .hasMessageContaining(replica.address() + "/0 refused: READONLY")
                            .hasMessageContaining("it is a replica; connect to the master");
                }
            }
        }
    }
}
