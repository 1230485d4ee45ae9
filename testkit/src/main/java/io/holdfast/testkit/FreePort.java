package io.holdfast.testkit;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Picks ports for servers, below the range from which the system takes the client side of connections. Otherwise a
 * client that reconnects to a server that is down could be connected to itself, and keep the port.
 */
final class FreePort {

    /** Thrown if the port was taken between the check and the server's start. */
    static final class TakenException extends IOException {

        private static final long serialVersionUID = 1;

        TakenException(String message) {
            super(message);
        }
    }

    private FreePort() {}

    /** Returns a port of 127.0.0.1 that is free at this moment. */
    static int next() throws IOException {
        while (true) {
            int port = ThreadLocalRandom.current().nextInt(20_000, 32_000);
            if (isFree(port)) {
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
            if (isFree(port) && isFree(port + 10_000)) {
                return port;
            }
        }
    }

    private static boolean isFree(int port) throws IOException {
        InetAddress loopback = InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
        try (ServerSocket probe = new ServerSocket()) {
            probe.bind(new InetSocketAddress(loopback, port));
            return true;
        } catch (BindException e) {
            return false;
        }
    }
}
