package io.holdfast.testkit.faults;

import io.holdfast.testkit.servers.FreePort;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A TCP proxy in front of a server that makes the faults of networks: it cuts and refuses connections, holds or loses
 * bytes, and delays them. It does not know the protocol.
 *
 * <pre>{@code
 * try (RedisServer server = RedisServer.start();
 *         FaultProxy proxy = FaultProxy.to(server.host(), server.port());
 *         LockClient locks = LockClient.connect(proxy.uri())) {
 *     Lease lease = locks.acquire("order:42");
 *     proxy.refuse(true);
 *     proxy.cutAll();                            // as if the server had gone
 *     assertThat(lease.isValid()).isTrue();      // until its time has passed
 * }
 * }</pre>
 *
 * <p>A setting applies to bytes that arrive after it; bytes that are being written at that moment still pass.
 * Thread-safe. Its threads are daemons.
 */
public final class FaultProxy implements AutoCloseable {

    private final int port;
    private volatile InetSocketAddress target;
    private volatile ProxyFlow requests = new ProxyFlow(); // of new connections
    private volatile ProxyFlow replies = new ProxyFlow(); // of new connections
    private final Set<ProxyConnection> connections = ConcurrentHashMap.newKeySet();

    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable ServerSocket listener; // by lock; null while refusing
    private Thread acceptor; // by lock; of the last listener
    private boolean closed; // by lock

    private FaultProxy(InetSocketAddress target, int port, ServerSocket listener) {
        this.target = target;
        this.port = port;
        this.listener = listener;
        this.acceptor = accept(listener);
    }

    /** Returns a proxy on a free port of the loopback interface, in front of a server that need not be up yet. */
    public static FaultProxy to(String host, int port) {
        try {
            for (int attempt = 1; ; attempt++) {
                int own = FreePort.next();
                try {
                    return new FaultProxy(new InetSocketAddress(host, port), own, listen(own));
                } catch (IOException e) {
                    if (attempt == 5) {
                        throw e;
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public int port() {
        return port;
    }

    /** Returns {@code redis://127.0.0.1:PORT}, for a Redis server without a password. */
    public String uri() {
        return "redis://127.0.0.1:" + port;
    }

    /** Returns the number of connections through the proxy now. */
    public int connections() {
        return connections.size();
    }

    /**
     * Leads new connections to another server, as a name does that a failover has moved. Existing connections stay where
     * they are.
     */
    public void redirect(String host, int newPort) {
        target = new InetSocketAddress(host, newPort);
    }

    /**
     * Closes all connections on both sides. All bytes on their way and all held bytes are lost; new connections may
     * come.
     */
    public void cutAll() {
        for (ProxyConnection connection : connections) {
            connection.cut();
        }
        requests.wake();
        replies.wake();
    }

    /**
     * Loses everything on the present connections from now on, and closes none, as a firewall does that has forgotten
     * them. New connections work; the other settings are off for these.
     */
    public void forgetAll() {
        requests.drop(true);
        replies.drop(true);
        requests = new ProxyFlow();
        replies = new ProxyFlow();
    }

    /**
     * Ends the replies on all connections, as a half-closed connection does: clients read the end of the stream, but
     * the requests that they have sent still arrive and are executed.
     */
    public void halfClose() {
        connections.forEach(ProxyConnection::endReplies);
    }

    /** Refuses new connections, as a server that is down does; existing connections stay. */
    public void refuse(boolean on) {
        Thread ending = null;
        lock.lock();
        try {
            if (on && listener != null) {
                listener.close();
                listener = null;
                ending = acceptor;
            } else if (!on && listener == null && !closed) {
                listener = listen(port);
                acceptor = accept(listener);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            lock.unlock();
        }
        if (ending != null) {
            // The system accepts connections until the thread in accept() has noticed.
            awaitEnd(ending);
        }
    }

    /**
     * Holds the bytes that clients send. When switched off, delivers them all, even those of clients that have closed
     * their connections in the meantime.
     */
    public void holdRequests(boolean on) {
        requests.hold(on);
    }

    /**
     * Holds the replies of the server, so that commands run without an answer. When switched off, delivers them all.
     */
    public void holdReplies(boolean on) {
        replies.hold(on);
    }

    /**
     * Loses the replies of the server. A connection that has lost a reply is unusable, because its client cannot tell
     * which reply is missing: cut the connection before this is switched off.
     */
    public void dropReplies(boolean on) {
        replies.drop(on);
    }

    /**
     * Delays all bytes by this time on each way, so that a round trip takes twice this time longer. Zero ends the
     * delay.
     */
    public void delay(Duration delay) {
        requests.delay(delay.toNanos());
        replies.delay(delay.toNanos());
    }

    /** Returns how many bytes from clients are held or delayed now. */
    public long pendingRequestBytes() {
        return requests.pending();
    }

    /** Returns how many bytes from the server are held or delayed now. */
    public long pendingReplyBytes() {
        return replies.pending();
    }

    /** Closes all connections and accepts no new ones. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
        } finally {
            lock.unlock();
        }
        refuse(true);
        cutAll();
    }

    private static ServerSocket listen(int port) throws IOException {
        ServerSocket socket = new ServerSocket();
        try {
            // Connections from before a refusal may still be closing.
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port));
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    private Thread accept(ServerSocket socket) {
        Thread thread = new Thread(() -> acceptAll(socket), "fault-proxy accept " + port);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static void awaitEnd(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void acceptAll(ServerSocket socket) {
        while (true) {
            Socket client;
            try {
                client = socket.accept();
            } catch (IOException e) {
                return; // refused from now on
            }
            try {
                connect(client);
            } catch (IOException e) {
                ProxyConnection.close(client); // the server is down
            }
        }
    }

    private void connect(Socket client) throws IOException {
        Socket server = new Socket();
        try {
            server.connect(target, 5_000);
            server.setTcpNoDelay(true);
            client.setTcpNoDelay(true);
        } catch (IOException e) {
            server.close();
            throw e;
        }
        ProxyConnection connection = new ProxyConnection(client, server, connections::remove);
        connections.add(connection);
        connection.start(requests, replies);
        lock.lock();
        try {
            if (closed) {
                connection.cut(); // accepted just before, and missed by close()
            }
        } finally {
            lock.unlock();
        }
    }
}
