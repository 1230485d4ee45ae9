package io.holdfast.zookeeper;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ClientX509Util;
import org.apache.zookeeper.common.X509Exception.SSLContextException;
import org.apache.zookeeper.common.X509Util;
import org.jspecify.annotations.Nullable;

/**
 * Finds out why TLS fails: ZooKeeper only logs it. Repeats the handshake with the same trust, certificate and check of
 * the host name as ZooKeeper's own client, on a connection that is closed at once.
 */
final class TlsProbe {

    /** In TLS 1.3 a server refuses a certificate only after the handshake; one that accepts it waits for a request. */
    private static final int REFUSAL_MILLIS = 1_000;

    /** A failed handshake. */
    static final class Failure extends Exception {

        private static final long serialVersionUID = 1;

        private final String server;
        private final boolean refused;

        Failure(String server, Exception cause, boolean refused) {
            super(cause.getMessage(), cause);
            this.server = server;
            this.refused = refused;
        }

        /** Returns whether the server refused this client; false if this client refused the server. */
        boolean isRefused() {
            return refused;
        }

        /** Returns host and port. */
        String server() {
            return server;
        }
    }

    private TlsProbe() {}

    /**
     * Returns the failure of the first server with which TLS fails, or null if it works or no server answers.
     *
     * @param servers {@code host:port,…}
     * @param millis how long all servers together may keep it waiting for a connection
     */
    static @Nullable Throwable failure(String servers, ZKClientConfig config, long millis) {
        SSLContext context;
        boolean checksHost;
        try (ClientX509Util util = new ClientX509Util()) {
            context = util.createSSLContext(config);
            // Without this mode, ZooKeeper's context checks the host.
            checksHost = X509Util.getFipsMode(config) && util.isServerHostnameVerificationEnabled(config);
        } catch (SSLContextException e) {
            // The files of the URI: they are the same for all servers.
            return new Failure(servers, e, false);
        }
        String[] all = servers.split(",", -1);
        for (String server : all) {
            Failure failure = handshake(server, context, checksHost, (int) (millis / all.length));
            if (failure != null) {
                return failure;
            }
        }
        return null;
    }

    private static @Nullable Failure handshake(String server, SSLContext context, boolean checksHost, int millis) {
        int colon = server.lastIndexOf(':');
        String host = server.substring(0, colon).replaceAll("[\\[\\]]", "");
        int port = Integer.parseInt(server.substring(colon + 1));
        try (Socket plain = new Socket()) {
            plain.connect(new InetSocketAddress(InetAddress.getByName(host), port), millis);
            plain.setSoTimeout(millis);
            try (SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(plain, host, port, true)) {
                if (checksHost) {
                    SSLParameters parameters = socket.getSSLParameters();
                    parameters.setEndpointIdentificationAlgorithm("HTTPS");
                    socket.setSSLParameters(parameters);
                }
                socket.startHandshake();
                return refusal(server, socket);
            }
        } catch (SSLException e) {
            if (e.getCause() instanceof EOFException) {
                // The server hung up before it said anything: it may have too many connections.
                return null;
            }
            return new Failure(server, e, String.valueOf(e.getMessage()).contains("alert"));
        } catch (IOException e) {
            // The server was not reached, or does not answer: this is no matter of TLS.
            return null;
        }
    }

    private static @Nullable Failure refusal(String server, SSLSocket socket) {
        try {
            socket.setSoTimeout(REFUSAL_MILLIS);
            return socket.getInputStream().read() >= 0
                    ? null
                    : new Failure(server, new SSLException("connection closed after the handshake"), true);
        } catch (SocketTimeoutException e) {
            return null;
        } catch (IOException e) {
            return new Failure(server, e, true);
        }
    }
}
