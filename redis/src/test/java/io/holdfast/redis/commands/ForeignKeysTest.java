package io.holdfast.redis.commands;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redis.TestClient;
import io.holdfast.redis.connect.RedisConnections;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.servers.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A hash that ends, or becomes a string, between the command that is refused for it and the question which type it is.
 */
public class ForeignKeysTest {

    private RedisServer server;
    private RedisClient client;
    private StatefulRedisConnection<String, String> connection;
    private ForeignKeys foreign;

    /** What others do before the type is asked for. */
    private List<String> meanwhile = List.of("PING");

    @BeforeEach
    void start() {
        server = RedisServer.start();
        client = RedisClient.create(server.uri());
        connection = client.connect();
        foreign = new ForeignKeys(connections(), new RedisErrors("the server", Duration.ofSeconds(5)));
        server.command("HSET", "n", "somebody", "1");
    }

    @AfterEach
    void stop() {
        connection.close();
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
        server.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"DEL n", "RENAME other n"})
    void whoeverHeldItHeldItUntilNow(String change) {
        others(change);
        assertThat(TestClient.get(foreign.holderOr("n", connection.async().get("n"))))
                .isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"DEL n", "RENAME other n"})
    void noIdOfThisModeHasAValue(String change) {
        others(change);
        assertThat(TestClient.get(foreign.value("n"))).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"DEL n", "RENAME other n"})
    void noIdOfThisModeHeldIt(String change) {
        others(change);
        assertThat(TestClient.get(foreign.notHeldOr("n", connection.async().append("n", "x"), -1L)))
                .isEqualTo(-1);
    }

    /** As Redis 8.6 says it. Where WATCH is allowed, that is asked next, and says WRONGTYPE. */
    @Test
    void redisSaysOtherWordsToAConditionalDeletion() {
        others("DEL n");
        CompletionStage<Long> refused = CompletableFuture.failedFuture(
                new RedisCommandExecutionException("ERR Key should be of string type if conditions are specified"));
        assertThat(TestClient.get(foreign.notHeldOr("n", refused, -1L))).isEqualTo(-1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"DEL n", "RENAME other n"})
    void itWasFreeInBetween(String change) {
        others(change);
        assertThat(TestClient.get(foreign.inspect("n", holder -> 0, null)).holder())
                .isNull();
    }

    /** Nothing is known then. */
    @Test
    void whatIsNotAboutTheTypeStaysAnError() {
        server.command("ACL", "SETUSER", "default", "-get");
        others("DEL n");
        assertThat(TestClient.failure(told(foreign.value("n"))).getMessage()).contains("NOPERM");
        assertThat(TestClient.failure(
                                told(foreign.holderOr("n", connection.async().get("n"))))
                        .outcome())
                .isEqualTo(StoreException.Outcome.FATAL);
        assertThat(TestClient.failure(
                                told(foreign.notHeldOr("n", connection.async().get("n"), "")))
                        .outcome())
                .isEqualTo(StoreException.Outcome.FATAL);
    }

    private static <T> CompletionStage<T> told(CompletionStage<T> answer) {
        return new RedisErrors("the server", Duration.ofSeconds(5)).told(answer);
    }

    private void others(String change) {
        server.command("SET", "other", "a string");
        meanwhile = List.of(change.split(" ", -1));
    }

    private RedisConnections connections() {
        return (RedisConnections) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {RedisConnections.class}, (proxy, method, arguments) -> {
                    assertThat(method.getName()).isEqualTo("commands");
                    return commands();
                });
    }

    private Object commands() {
        return Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {RedisClusterAsyncCommands.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("type")) {
                        server.command(meanwhile.toArray(String[]::new));
                    }
                    try {
                        return method.invoke(connection.async(), arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause() == null ? e : e.getCause();
                    }
                });
    }
}
