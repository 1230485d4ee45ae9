package io.holdfast.redis.connect;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.testkit.servers.RedisServer;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** An operator tells the threads of locks from those of the application's own Redis connections. */
public class ThreadNamesTest {

    @Test
    void allThreadsOfAStoreAreCalledHoldfast() throws InterruptedException {
        try (RedisServer server = RedisServer.start()) {
            Set<Thread> before = Thread.getAllStackTraces().keySet();
            try (LockClient client = LockClient.connect(server.uri())) {
                client.acquire("n").release();
                client.acquireAsync("n").toCompletableFuture().join().release();
                assertThat(namesOfOthersThan(before))
                        .isNotEmpty()
                        .allMatch(name -> name.startsWith("holdfast-"))
                        .anyMatch(name -> name.startsWith("holdfast-redis-"));
            }
        }
    }

    @Test
    void soAreTheThreadsThatTheMembersOfAQuorumShare() throws InterruptedException {
        try (RedisServer one = RedisServer.start();
                RedisServer two = RedisServer.start();
                RedisServer three = RedisServer.start()) {
            Set<Thread> before = Thread.getAllStackTraces().keySet();
            String uri = "redlock://" + one.address() + "," + two.address() + "," + three.address();
            try (LockClient client = LockClient.connect(uri + "?bootstrap=true")) {
                client.acquire("n").release();
                assertThat(namesOfOthersThan(before)).isNotEmpty().allMatch(name -> name.startsWith("holdfast-"));
            }
        }
    }

    private static Set<String> namesOfOthersThan(Set<Thread> before) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !before.contains(thread))
                .map(Thread::getName)
                // The test's reading of what a server prints, and the JVM's own.
                .filter(name -> !name.startsWith("process reaper") && !name.startsWith("ForkJoinPool"))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
