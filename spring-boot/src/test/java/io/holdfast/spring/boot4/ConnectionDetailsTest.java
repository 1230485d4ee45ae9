package io.holdfast.spring.boot4;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.spring.boot.Contexts;
import io.holdfast.testkit.servers.RedisServer;
import org.junit.jupiter.api.Test;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;

/**
 * What {@code @ServiceConnection} and Docker Compose make is a bean of connection details; that decides, not the
 * properties.
 */
class ConnectionDetailsTest {

    private record Details(RedisServer server) implements DataRedisConnectionDetails {

        @Override
        public String getUsername() {
            return "app";
        }

        @Override
        public String getPassword() {
            return "s/e c#ret";
        }

        @Override
        public Standalone getStandalone() {
            return Standalone.of(server.host(), server.port(), 4);
        }
    }

    @Test
    void a_bean_of_connection_details_decides() {
        try (RedisServer server = RedisServer.start()) {
            server.command("ACL", "SETUSER", "app", "on", ">s/e c#ret", "~*", "&*", "+@all");
            Contexts.boot()
                    .withBean(DataRedisConnectionDetails.class, () -> new Details(server))
                    // Nobody listens there.
                    .withPropertyValues("spring.data.redis.port=1", "spring.data.redis.client-name=shop")
                    .run(context -> {
                        LockClient client = context.getBean(LockClient.class);
                        assertThat(client.describeStore()).isEqualTo(server.uri() + "/4");
                        try (Lease lease = client.acquire("order:1")) {
                            assertThat(lease.fencingToken()).isPositive();
                            assertThat(String.valueOf(server.command("CLIENT", "LIST")))
                                    .contains(" name=shop ", " user=app");
                        }
                    });
        }
    }
}
