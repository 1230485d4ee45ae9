package io.holdfast.samples.sidebyside;

import io.holdfast.testkit.servers.RedisServer;
import java.time.Duration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** The Redis connections of the libraries that run on Spring Data. */
record Connections(LettuceConnectionFactory factory) implements AutoCloseable {

    static Connections to(RedisServer server) {
        LettuceConnectionFactory factory = new LettuceConnectionFactory(
                new RedisStandaloneConfiguration(server.host(), server.port()),
                LettuceClientConfiguration.builder()
                        .commandTimeout(Duration.ofSeconds(2))
                        .build());
        factory.afterPropertiesSet();
        factory.start();
        return new Connections(factory);
    }

    @Override
    public void close() {
        factory.destroy();
    }
}
