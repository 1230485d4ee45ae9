package io.holdfast.testkit.torture;

import io.holdfast.history.Event;
import io.holdfast.history.Event.Kind;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The resources that the locks guard, behind a socket of this machine with one thread for each connection: for each
 * lock a register that refuses fencing tokens smaller than any it has seen, and a counter that refuses nothing.
 */
final class TortureResource implements AutoCloseable {

    private final ServerSocket server;
    private final Recorder recorder;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Long> tokens = new HashMap<>(); // by lock
    private final Map<String, Long> registers = new HashMap<>(); // by lock
    private final Map<String, Long> counters = new HashMap<>(); // by lock
    private final AtomicInteger connections = new AtomicInteger();

    TortureResource(Recorder recorder) throws IOException {
        this.recorder = recorder;
        server = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
        start(this::acceptAll);
    }

    int port() {
        return server.getLocalPort();
    }

    /** Returns how many connections there have been: one for each thread that has begun its work. */
    int connections() {
        return connections.get();
    }

    @Override
    public void close() throws IOException {
        server.close();
    }

    private static void start(Runnable task) {
        Thread thread = new Thread(task, "torture-resource");
        thread.setDaemon(true);
        thread.start();
    }

    private void acceptAll() {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                connections.incrementAndGet();
                start(() -> serve(socket));
            } catch (IOException e) {
                return; // closed
            }
        }
    }

    private void serve(Socket socket) {
        try (socket;
                BufferedReader in =
                        new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
                Writer out = new OutputStreamWriter(socket.getOutputStream(), StandardCharsets.UTF_8)) {
            socket.setTcpNoDelay(true);
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                out.write(answer(List.of(line.split(" ", -1))) + "\n");
                out.flush();
            }
        } catch (IOException e) {
            // A fault killed the process at the other end.
        }
    }

    /**
     * Executes a request (verb, operation, lock, token, value). Returns the value read, or 1 for done and 0 for
     * refused.
     */
    private long answer(List<String> request) {
        String who = request.get(1);
        String name = request.get(2);
        long token = Long.parseLong(request.get(3));
        long value = Long.parseLong(request.get(4));
        lock.lock();
        try {
            return switch (request.get(0)) {
                case "read" -> read(who, name, token);
                case "write" -> write(who, name, token, value) ? 1 : 0;
                case "look" -> counters.getOrDefault(name, 0L);
                default -> count(who, name, value);
            };
        } finally {
            lock.unlock();
        }
    }

    /** Reads with the token, too: an older holder must not overtake a holder that has read. */
    private long read(String who, String name, long token) {
        if (!fresh(name, token)) {
            return -1;
        }
        long value = registers.getOrDefault(name, 0L);
        recorder.record(Event.of(System.nanoTime(), Kind.READ, who, "of", name, "value", value));
        return value;
    }

    private boolean write(String who, String name, long token, long value) {
        boolean accepted = fresh(name, token);
        if (accepted) {
            registers.put(name, value);
        }
        recorder.record(Event.of(
                System.nanoTime(), Kind.WRITE, who, "of", name, "value", value, "token", token, "accepted", accepted));
        return accepted;
    }

    private boolean fresh(String name, long token) {
        if (token < tokens.getOrDefault(name, 0L)) {
            return false;
        }
        tokens.put(name, token);
        return true;
    }

    private long count(String who, String name, long value) {
        counters.put(name, value);
        recorder.record(Event.of(System.nanoTime(), Kind.COUNT, who, "of", "counter:" + name, "value", value));
        return 1;
    }

    /** A connection of one worker thread. */
    static final class Connection implements AutoCloseable {
        private final Socket socket;
        private final BufferedReader in;
        private final Writer out;

        Connection(int port) throws IOException {
            socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.setTcpNoDelay(true);
            in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            out = new OutputStreamWriter(socket.getOutputStream(), StandardCharsets.UTF_8);
        }

        long ask(String verb, String who, String name, long token, long value) throws IOException {
            out.write(verb + " " + who + " " + name + " " + token + " " + value + "\n");
            out.flush();
            String answer = in.readLine();
            if (answer == null) {
                throw new IOException("the torture has ended");
            }
            return Long.parseLong(answer);
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
