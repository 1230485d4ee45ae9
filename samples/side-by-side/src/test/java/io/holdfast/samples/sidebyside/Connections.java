package io.holdfast.samples.sidebyside;

import io.holdfast.testkit.RedisServer;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** The Redis connections of the libraries that run on Spring Data. */
record Connections(LettuceConnectionFactory factory) implements AutoCloseable {

    static Connections to(RedisServer server) {
        LettuceConnectionFactory factory = new LettuceConnectionFactory(server.host(), server.port());
        factory.afterPropertiesSet();
        factory.start();
        return new Connections(factory);
    }

    @Override
    public void close() {
        factory.destroy();
    }
}
