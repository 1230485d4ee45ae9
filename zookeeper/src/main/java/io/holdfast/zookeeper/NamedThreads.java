package io.holdfast.zookeeper;

import io.holdfast.spi.DaemonThreads;
import io.holdfast.spi.StageWait;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.utils.ZookeeperFactory;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.jspecify.annotations.Nullable;

/**
 * Names the threads of Curator and ZooKeeper {@code holdfast-zookeeper…}, so that an operator can tell them from the
 * application's own threads. ZooKeeper takes no name, but prefixes its threads' names with that of the thread which
 * creates the handle, and have its context class loader. So this class creates handles on a thread of its own.
 */
final class NamedThreads implements ThreadFactory, ZookeeperFactory {

    private static final String NAME = "holdfast-zookeeper";

    private final AtomicInteger threads = new AtomicInteger();
    private volatile @Nullable Throwable failure;

    @Override
    public Thread newThread(Runnable task) {
        return DaemonThreads.unstarted(NAME + "-curator-" + threads.incrementAndGet(), task);
    }

    @Override
    public ZooKeeper newZooKeeper(String servers, int sessionMillis, Watcher watcher, boolean readOnly)
            throws Exception {
        return newZooKeeper(servers, sessionMillis, watcher, readOnly, new ZKClientConfig());
    }

    @Override
    public ZooKeeper newZooKeeper(
            String servers, int sessionMillis, Watcher watcher, boolean readOnly, ZKClientConfig config)
            throws Exception {
        CompletableFuture<ZooKeeper> made = new CompletableFuture<>();
        Runnable make = () -> {
            try {
                made.complete(new ZooKeeper(servers, sessionMillis, watcher, readOnly, config));
                failure = null;
            } catch (Throwable e) {
                // Curator only logs it, and tries again.
                failure = e;
                made.completeExceptionally(e);
            }
        };
        DaemonThreads.unstarted(NAME, make).start();
        // The constructor does not connect; its threads do. An interrupt is left for the wait that follows.
        return StageWait.join(made);
    }

    /** Returns why the last handle could not be made, or null. */
    @Nullable
    Throwable failure() {
        return failure;
    }
}
