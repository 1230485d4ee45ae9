package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.redis.connect.SharedThreads;
import io.holdfast.redis.server.RedisSettings;
import io.holdfast.redis.server.RedisUris;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.TimeSource;
import io.holdfast.testkit.servers.RedisServer;
import java.net.URI;
import org.junit.jupiter.api.Test;

public class MemberOpeningTest {

    @Test
    void aServerWithoutScriptsIsRefused() {
        try (RedisServer server = RedisServer.builder()
                .args("--rename-command", "EVAL", "", "--rename-command", "EVALSHA", "")
                .start()) {
            RedisSettings settings = RedisUris.parse(URI.create(server.uri()));
            StoreContext context = new StoreContext("hf-l", TimeSource.system());
            assertThatThrownBy(() -> MemberOpening.open(settings, new SharedThreads(), context))
                    .isInstanceOf(StoreException.class)
                    .hasMessage(
                            "redis://127.0.0.1:" + server.port() + "/0 has no command EVALSHA, so it runs no scripts"
                                    + " (see rename-command in the server's configuration)");
        }
    }
}
