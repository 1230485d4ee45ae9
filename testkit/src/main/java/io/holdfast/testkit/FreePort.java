package io.holdfast.testkit;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Picks ports for servers. Below the range from which the system takes the client side of connections: a client that
 * reconnects to a server which is down could else be connected to itself, and keep the port.
 */
final class FreePort {

    /** The port was taken between the look at it and the server's start. */
    static final class TakenException extends IOException {

        private static final long serialVersionUID = 1;

        TakenException(String message) {
            super(message);
        }
    }

    private FreePort() {}

    /** A port of 127.0.0.1 on which nobody listens at this moment. */
    static int next() throws IOException {
        InetAddress loopback = InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
        while (true) {
            int port = ThreadLocalRandom.current().nextInt(20_000, 32_000);
            try (ServerSocket probe = new ServerSocket()) {
                probe.bind(new InetSocketAddress(loopback, port));
                return port;
            } catch (BindException e) {
                // In use: the next one.
            }
        }
    }
}
