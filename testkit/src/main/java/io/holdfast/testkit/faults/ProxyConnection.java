package io.holdfast.testkit.faults;

import java.io.IOException;
import java.net.Socket;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * One client's connection through a {@link FaultProxy}. Each way has a thread that reads, so that bytes have left their
 * sender even while they are held, and a thread that writes.
 *
 * <p>The end of a stream travels behind its bytes, as in a network: a held request of a client that closes its
 * connection still arrives when it is delivered.
 */
final class ProxyConnection {

    /** Bytes on their way; without bytes, the end of the stream. */
    private static final class Chunk {
        final byte[] bytes;
        final long due;

        Chunk(byte[] bytes, long due) {
            this.bytes = bytes;
            this.due = due;
        }
    }

    private final Socket client;
    private final Socket server;
    private final Consumer<ProxyConnection> onEnd;
    private final AtomicInteger openWays = new AtomicInteger(2);
    private volatile boolean cut;

    ProxyConnection(Socket client, Socket server, Consumer<ProxyConnection> onEnd) {
        this.client = client;
        this.server = server;
        this.onEnd = onEnd;
    }

    void start(ProxyFlow requests, ProxyFlow replies) {
        startWay("requests", client, server, requests);
        startWay("replies", server, client, replies);
    }

    /** Closes both sides; all bytes on their way are lost. The caller must wake the flows afterwards. */
    void cut() {
        cut = true;
        close(client);
        close(server);
    }

    /** Sends the client the end of the stream, and nothing after it. */
    void endReplies() {
        write(new Chunk(new byte[0], 0), client);
    }

    private void startWay(String way, Socket from, Socket to, ProxyFlow flow) {
        BlockingQueue<Chunk> inFlight = new LinkedBlockingQueue<>();
        daemon("read " + way, () -> read(from, flow, inFlight));
        daemon("write " + way, () -> {
            write(to, flow, inFlight);
            if (openWays.decrementAndGet() == 0) {
                cut();
                onEnd.accept(this);
            }
        });
    }

    private static void read(Socket from, ProxyFlow flow, BlockingQueue<Chunk> inFlight) {
        byte[] buffer = new byte[16_384];
        try {
            for (int n = from.getInputStream().read(buffer);
                    n >= 0;
                    n = from.getInputStream().read(buffer)) {
                long due = flow.arrived(n);
                if (due >= 0) {
                    inFlight.add(new Chunk(Arrays.copyOf(buffer, n), due));
                }
            }
        } catch (IOException e) {
            // The same as the end of the stream.
        }
        inFlight.add(new Chunk(new byte[0], flow.arrived(0)));
    }

    /** Writes until the end of the stream. Bytes that come after the receiver has gone are lost. */
    private void write(Socket to, ProxyFlow flow, BlockingQueue<Chunk> inFlight) {
        boolean usable = true;
        try {
            while (true) {
                Chunk chunk = inFlight.take();
                usable = usable && flow.awaitPassage(chunk.due, () -> cut) && write(chunk, to);
                flow.passed(chunk.bytes.length);
                if (chunk.bytes.length == 0) {
                    return;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static boolean write(Chunk chunk, Socket to) {
        try {
            if (chunk.bytes.length == 0) {
                to.shutdownOutput();
            } else {
                to.getOutputStream().write(chunk.bytes);
            }
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private static void daemon(String name, Runnable body) {
        Thread thread = new Thread(body, "fault-proxy " + name);
        thread.setDaemon(true);
        thread.start();
    }

    static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // The proxy treats it as closed.
        }
    }
}
