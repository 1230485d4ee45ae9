package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.testkit.servers.ZooKeeperEnsemble;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** An operator can distinguish the threads of locks from those of the application's own ZooKeeper client. */
class ThreadNamesTest {

    @Test
    void allThreadsOfAStoreAreCalledHoldfast() throws InterruptedException {
        try (ZooKeeperEnsemble servers = ZooKeeperEnsemble.start(1)) {
            // Its connection has begun by then, and has created the threads that both may share.
            Set<Thread> before = Thread.getAllStackTraces().keySet();
            try (LockClient client = LockClient.connect(servers.uri())) {
                client.acquire("n").release();
                Set<String> names = Thread.getAllStackTraces().keySet().stream()
                        .filter(thread -> !before.contains(thread))
                        .map(Thread::getName)
                        .collect(Collectors.toCollection(TreeSet::new));
                assertThat(names)
                        .anyMatch(name -> name.startsWith("holdfast-zookeeper-SendThread"))
                        .anyMatch(name -> name.startsWith("holdfast-zookeeper-EventThread"))
                        .noneMatch(name -> name.startsWith("Curator-") || name.startsWith("main-"));
            }
        }
    }
}
