package io.holdfast.testkit.servers;

import java.io.IOException;
import java.net.BindException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Picks ports for servers, below the range from which the system takes the client side of connections. Otherwise a
 * client that reconnects to a server that is down could be connected to itself, and keep the port.
 *
 * <p>A server binds its port long after it was picked, and again after a restart. So a port that was picked stays
 * reserved for this JVM until it ends: by a UDP socket on the same number, which the servers do not use and which no
 * other JVM that picks ports can bind. Thread-safe.
 *
 * <pre>{@code
 * int port = FreePort.next();
 * RedisServer server = RedisServer.builder().args(ca.redisArguments(port, "no")).start();
 * }</pre>
 */
public final class FreePort {

    /** Referenced for as long as this JVM runs: a socket that is collected is closed. */
    private static final Queue<DatagramSocket> RESERVED = new ConcurrentLinkedQueue<>();

    /** Thrown if the port was taken between the check and the server's start. */
    static final class TakenException extends IOException {

        private static final long serialVersionUID = 1;

        TakenException(String message) {
            super(message);
        }
    }

    private FreePort() {}

    /**
     * Returns a port of 127.0.0.1 that is free at this moment, and that no other JVM picks.
     *
     * @throws IOException if a socket cannot be bound for another reason than that its port is in use
     */
    public static int next() throws IOException {
        while (true) {
            int port = ThreadLocalRandom.current().nextInt(20_000, 32_000);
            if (reserve(port)) {
                return port;
            }
        }
    }

    /**
     * Returns a port for a node of a cluster, which also takes the port 10,000 above; that is below the system's range,
     * too.
     */
    static int nextWithBus() throws IOException {
        while (true) {
            int port = ThreadLocalRandom.current().nextInt(12_000, 22_700);
            if (reserve(port) && reserve(port + 10_000)) {
                return port;
            }
        }
    }

    private static boolean reserve(int port) throws IOException {
        InetAddress loopback = InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
        InetSocketAddress address = new InetSocketAddress(loopback, port);
        try (ServerSocket probe = new ServerSocket()) {
            probe.bind(address);
            RESERVED.add(new DatagramSocket(address));
            return true;
        } catch (BindException e) {
            return false;
        }
    }
}
