package io.holdfast.demo.scenes;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The server that the processes compete for: {@link Books} behind a socket of this machine, one thread for each
 * connection.
 */
final class Shop implements AutoCloseable {

    private final ServerSocket server;
    private final Books books = new Books();

    private Shop(ServerSocket server) {
        this.server = server;
    }

    static Shop open() throws IOException {
        Shop shop = new Shop(new ServerSocket(0, 200, InetAddress.getLoopbackAddress()));
        startDaemon(shop::acceptAll);
        return shop;
    }

    int port() {
        return server.getLocalPort();
    }

    Books books() {
        return books;
    }

    @Override
    public void close() throws IOException {
        server.close();
    }

    private void acceptAll() {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                startDaemon(() -> serve(socket));
            } catch (IOException e) {
                return; // closed
            }
        }
    }

    private void serve(Socket socket) {
        List<Section> inside = new ArrayList<>();
        try (socket;
                BufferedReader in =
                        new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
                Writer out = new OutputStreamWriter(socket.getOutputStream(), StandardCharsets.US_ASCII)) {
            socket.setTcpNoDelay(true);
            String line;
            while ((line = in.readLine()) != null) {
                out.write(answer(Message.parse(line), inside).line() + "\n");
                out.flush();
            }
        } catch (IOException e) {
            // The process at the other end was killed: part of the play.
        } finally {
            // A dead process is in no section any more.
            inside.forEach(Section::leave);
        }
    }

    private Message answer(Message request, List<Section> inside) {
        return switch (request.verb()) {
            case "read" -> Message.of("ok", "value", books.read(request.text("cell")));
            case "write" -> {
                books.write(request.text("cell"), request.number("value"));
                yield Message.of("ok");
            }
            case "record" -> {
                books.record(request.text("book"), request.text("entry"));
                yield Message.of("ok");
            }
            case "enter" -> {
                Section section = books.section(request.text("section"));
                section.enter(request.number("token"));
                inside.add(section);
                yield Message.of("ok");
            }
            case "leave" -> {
                Section section = books.section(request.text("section"));
                if (inside.remove(section)) {
                    section.leave();
                }
                yield Message.of("ok");
            }
            case "append" -> {
                Ledger ledger = books.ledger(request.text("ledger"));
                yield Message.of("ok", "accepted", ledger.write(request.number("token"), request.text("line")));
            }
            default -> Message.of("failed", "error", "no such verb: " + request.verb());
        };
    }

    private static void startDaemon(Runnable task) {
        Thread thread = new Thread(task, "holdfast-demo-shop");
        thread.setDaemon(true);
        thread.start();
    }

    /** A process's connection to the shop. One thread at a time. */
    static final class Visit implements AutoCloseable {

        private final Socket socket;
        private final BufferedReader in;
        private final Writer out;

        Visit(int port) throws IOException {
            socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.setTcpNoDelay(true);
            in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
            out = new OutputStreamWriter(socket.getOutputStream(), StandardCharsets.US_ASCII);
        }

        Message ask(String verb, Object... keysAndValues) throws IOException {
            out.write(Message.of(verb, keysAndValues).line() + "\n");
            out.flush();
            @Nullable String line = in.readLine();
            if (line == null) {
                throw new IOException("The shop has closed");
            }
            Message reply = Message.parse(line);
            if (!reply.verb().equals("ok")) {
                throw new IOException(reply.text("error"));
            }
            return reply;
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
