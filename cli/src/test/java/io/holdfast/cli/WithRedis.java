package io.holdfast.cli;

import io.holdfast.LockClient;
import io.holdfast.testkit.servers.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/** A server for the tests of a class, and a client of it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class WithRedis {

    RedisServer redis;
    LockClient locks;

    @BeforeAll
    void startServer() {
        redis = RedisServer.start();
        locks = LockClient.connect(redis.uri());
    }

    @AfterAll
    void stopServer() {
        locks.close();
        redis.close();
    }
}
