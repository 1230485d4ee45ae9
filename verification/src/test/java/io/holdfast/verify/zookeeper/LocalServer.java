package io.holdfast.verify.zookeeper;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import org.apache.zookeeper.server.DataNode;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/** A real server in this process, whose count of a folder's nodes can be set. */
final class LocalServer implements AutoCloseable {

    private static final int TICK_MILLIS = 200;

    private final ZooKeeperServer server;
    private final NIOServerCnxnFactory connections = new NIOServerCnxnFactory();

    LocalServer(Path dir) throws IOException, InterruptedException {
        server = new ZooKeeperServer(dir.toFile(), dir.toFile(), TICK_MILLIS);
        server.setMaxSessionTimeout(60_000);
        connections.configure(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 100);
        connections.startup(server);
    }

    /** Returns host and port, as in a URI. */
    String address() {
        return "127.0.0.1:" + connections.getLocalPort();
    }

    /** Sets the number of nodes that were made in a folder, in which nothing may happen at this moment. */
    void setMade(String folder, long made) {
        DataNode node = server.getZKDatabase().getNode(folder);
        synchronized (node) {
            node.stat.setCversion((int) made);
        }
    }

    /** Returns the transaction that created a folder, or zero if there is no folder. */
    long created(String folder) {
        DataNode node = server.getZKDatabase().getNode(folder);
        return node == null ? 0 : node.stat.getCzxid();
    }

    @Override
    public void close() {
        connections.shutdown();
    }
}
