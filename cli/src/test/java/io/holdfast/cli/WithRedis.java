package io.holdfast.cli;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.testkit.servers.RedisServer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/** A server for the tests of a class, and a client of it. What a test keeps is released after it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class WithRedis {

    RedisServer redis;
    LockClient locks;
    private final List<Lease> kept = new ArrayList<>();

    @BeforeAll
    void startServer() {
        redis = RedisServer.start();
        locks = LockClient.connect(redis.uri());
    }

    Lease keep(Lease lease) {
        kept.add(lease);
        return lease;
    }

    @AfterEach
    void releaseKept() {
        kept.stream().filter(Lease::isValid).forEach(Lease::release);
        kept.clear();
    }

    /** Runs a command on the server. */
    InProcess run(String command, String... args) {
        return InProcess.on(redis.uri(), command, args);
    }

    @AfterAll
    void stopServer() {
        locks.close();
        redis.close();
    }
}
