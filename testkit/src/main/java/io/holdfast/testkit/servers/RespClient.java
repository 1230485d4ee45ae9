package io.holdfast.testkit.servers;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One plain connection to a Redis server. It knows enough of the protocol (RESP 2) to look at a server without the
 * driver under test.
 *
 * <pre>{@code
 * try (Lease lease = locks.acquire("order:42");
 *         RespClient redis = RespClient.connect(server.host(), server.port(), Duration.ofSeconds(5))) {
 *     assertThat(redis.call("EXISTS", "lock:order:42")).isEqualTo(1L);
 * }
 * }</pre>
 *
 * <p>Not thread-safe. After an {@link IOException} the connection is unusable.
 */
public final class RespClient implements AutoCloseable {

    /** An error that a server answers instead of a result, for example {@code WRONGTYPE …}. */
    public static final class ErrorReply extends RuntimeException {

        private static final long serialVersionUID = 1;

        ErrorReply(String message) {
            super(message);
        }
    }

    private final Socket socket;
    private final InputStream in;

    private RespClient(Socket socket) throws IOException {
        this.socket = socket;
        this.in = new BufferedInputStream(socket.getInputStream());
    }

    /**
     * Returns a new connection.
     *
     * @param timeout the longest wait for the connection, and for each reply
     */
    public static RespClient connect(String host, int port, Duration timeout) throws IOException {
        Socket socket = new Socket();
        try {
            socket.connect(new InetSocketAddress(host, port), Math.toIntExact(timeout.toMillis()));
            socket.setSoTimeout(Math.toIntExact(timeout.toMillis()));
            socket.setTcpNoDelay(true);
            return new RespClient(socket);
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    /**
     * Sends one command and waits for its reply.
     *
     * @return a String, a Long, a List of these, or null
     * @throws ErrorReply if the server answers with an error; the connection stays usable
     */
    public @Nullable Object call(String... command) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(("*" + command.length + "\r\n").getBytes(StandardCharsets.UTF_8));
        for (String word : command) {
            byte[] bytes = word.getBytes(StandardCharsets.UTF_8);
            out.writeBytes(("$" + bytes.length + "\r\n").getBytes(StandardCharsets.UTF_8));
            out.writeBytes(bytes);
            out.writeBytes(new byte[] {'\r', '\n'});
        }
        socket.getOutputStream().write(out.toByteArray());
        Object reply = read();
        if (reply instanceof ErrorReply error) {
            throw error;
        }
        return reply;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }

    private @Nullable Object read() throws IOException {
        String line = readLine();
        String rest = line.substring(1);
        return switch (line.charAt(0)) {
            case '+' -> rest;
            case '-' -> new ErrorReply(rest);
            case ':' -> Long.valueOf(rest);
            case '$' -> readBulk(Integer.parseInt(rest));
            case '*' -> readArray(Integer.parseInt(rest));
            default -> throw new IOException("not RESP: \"" + line + "\"");
        };
    }

    private @Nullable String readBulk(int length) throws IOException {
        if (length < 0) {
            return null;
        }
        byte[] bytes = in.readNBytes(length);
        if (bytes.length < length) {
            throw new EOFException("the server closed the connection within a reply");
        }
        in.skipNBytes(2);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private @Nullable List<@Nullable Object> readArray(int length) throws IOException {
        if (length < 0) {
            return null;
        }
        List<@Nullable Object> elements = new ArrayList<>(length);
        for (int i = 0; i < length; i++) {
            // An error within an array (of EXEC) is one of its elements and not a failure of the command.
            elements.add(read());
        }
        return elements;
    }

    private String readLine() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int b = in.read(); b != '\r'; b = in.read()) {
            if (b < 0) {
                throw new EOFException("the server closed the connection");
            }
            line.write(b);
        }
        in.skipNBytes(1);
        if (line.size() == 0) {
            throw new IOException("not RESP: an empty line");
        }
        return line.toString(StandardCharsets.UTF_8);
    }
}
