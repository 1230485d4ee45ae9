package io.holdfast.zookeeper;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.TimeSource;
import java.net.URI;
import java.util.List;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * Opens to the simulation what the ZooKeeper store keeps to its package. An object of it is the real store on a
 * connection of the simulation.
 */
public final class VerifyZooKeeper {

    /** The first number that no node may have. */
    public static final long LIMIT = QueueSnapshot.LIMIT;

    private final ZooKeeperLockStore store;

    /** @param wrongClock whether the store takes every write for something that the leader counts from: a seeded bug */
    public VerifyZooKeeper(URI uri, StoreContext context, Connection connection, boolean wrongClock) {
        TimeSource time = context.time();
        store = new ZooKeeperLockStore(
                ZooKeeperSettings.parse(uri),
                context,
                connection,
                () -> wrongClock ? new WrongClock(time) : new SessionClock(time));
    }

    public LockStore store() {
        return store;
    }

    /** How many contenders the store remembers. */
    public int size() {
        return store.size();
    }

    /** Whether the store knows its session. */
    public boolean isOpen() {
        try {
            return store.session().id() != 0;
        } catch (StoreException e) {
            return false;
        }
    }

    /** The commands of one session. */
    public interface Commands extends Handle {}

    /** What a store connects with. */
    public interface Connection extends Connector {
        @Override
        Commands handle() throws Exception;
    }

    /** Passes all commands on; what a seeded bug is about is overridden. */
    public static class ForwardedCommands implements Commands {
        private final Handle handle;

        public ForwardedCommands(Commands commands) {
            handle = commands;
        }

        /** The commands of a real session. */
        public ForwardedCommands(ZooKeeper session) {
            handle = new ZooKeeperHandle(session, ZooDefs.Ids.OPEN_ACL_UNSAFE);
        }

        @Override
        public long sessionId() {
            return handle.sessionId();
        }

        @Override
        public int sessionTimeout() {
            return handle.sessionTimeout();
        }

        @Override
        public boolean isOver() {
            return handle.isOver();
        }

        @Override
        public List<ACL> access() {
            return handle.access();
        }

        @Override
        public void create(String path, byte[] data, CreateMode mode, AsyncCallback.Create2Callback callback) {
            handle.create(path, data, mode, callback);
        }

        @Override
        public void children(String path, @Nullable Watcher watcher, AsyncCallback.ChildrenCallback callback) {
            handle.children(path, watcher, callback);
        }

        @Override
        public void write(String path, byte[] data, AsyncCallback.StatCallback callback) {
            handle.write(path, data, callback);
        }

        @Override
        public void read(String path, @Nullable Watcher watcher, AsyncCallback.DataCallback callback) {
            handle.read(path, watcher, callback);
        }

        @Override
        public void delete(String path, AsyncCallback.VoidCallback callback) {
            handle.delete(path, callback);
        }

        @Override
        public void sync(String path, AsyncCallback.VoidCallback callback) {
            handle.sync(path, callback);
        }

        @Override
        public void together(List<Op> steps, AsyncCallback.MultiCallback callback) {
            handle.together(steps, callback);
        }
    }

    /** A seeded bug: takes every write for something that the leader counts from. */
    private static final class WrongClock extends SessionClock {
        WrongClock(TimeSource time) {
            super(time);
        }

        @Override
        long promiseMillis(long timeoutMillis, boolean steady) {
            return timeoutMillis * 2 / 3;
        }

        @Override
        boolean hasWrittenWithin(long nanos) {
            return true;
        }
    }

    /** The nodes in the folder of a lock or a pool that hold or wait, the first one first. */
    public static final class Queue {
        private final QueueSnapshot nodes;

        public Queue(List<String> folder) {
            this(folder, false);
        }

        public Queue(List<String> folder, boolean pool) {
            nodes = QueueSnapshot.of(folder, pool);
        }

        /** How many of the first ones hold. */
        public int holders() {
            return nodes.holders();
        }

        public String holder(int index) {
            return nodes.holder(index);
        }

        public int weight(int index) {
            return nodes.weight(index);
        }

        public boolean isEmpty() {
            return nodes.isEmpty();
        }

        public int size() {
            return nodes.size();
        }

        public String holder() {
            return nodes.holder();
        }

        public String node(int index) {
            return nodes.node(index);
        }
    }

    /** The name of the node that stands for a lock. */
    public static String encode(String name) {
        return NodeNames.encode(name);
    }
}
