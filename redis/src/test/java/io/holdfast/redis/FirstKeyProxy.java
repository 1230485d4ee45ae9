package io.holdfast.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.holdfast.testkit.servers.RedisServer;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A proxy in front of several servers that know nothing of each other, as Envoy is one: what has a key goes to the
 * server of its first, and nobody may subscribe.
 */
final class FirstKeyProxy implements AutoCloseable {

    private final ServerSocket listening;
    private final List<RedisServer> servers;
    private final AtomicInteger connected = new AtomicInteger();

    /**
     * Whether a client keeps its connection when a server ends: the command is sent again, to the server that comes.
     */
    volatile boolean keepsClients;

    /** Returns the error that a command gets instead of its execution, or null. */
    volatile Function<List<String>, @Nullable String> refusal = words -> null;

    private FirstKeyProxy(ServerSocket listening, List<RedisServer> servers) {
        this.listening = listening;
        this.servers = servers;
    }

    static FirstKeyProxy start(RedisServer... servers) throws IOException {
        FirstKeyProxy proxy =
                new FirstKeyProxy(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()), List.of(servers));
        daemon(proxy::accept);
        return proxy;
    }

    String uri() {
        return "redis://127.0.0.1:" + listening.getLocalPort();
    }

    /** How many connections clients have made. */
    int connected() {
        return connected.get();
    }

    @Override
    public void close() throws IOException {
        listening.close();
    }

    private void accept() {
        try {
            while (true) {
                Socket client = listening.accept();
                connected.incrementAndGet();
                daemon(() -> serve(client));
            }
        } catch (IOException e) {
            // Closed.
        }
    }

    private static void daemon(Runnable task) {
        Thread thread = new Thread(task, "first-key-proxy");
        thread.setDaemon(true);
        thread.start();
    }

    private void serve(Socket client) {
        List<Socket> links = new ArrayList<>();
        try (client) {
            List<InputStream> replies = new ArrayList<>();
            for (RedisServer server : servers) {
                Socket link = new Socket(server.host(), server.port());
                links.add(link);
                replies.add(new BufferedInputStream(link.getInputStream()));
            }
            InputStream commands = new BufferedInputStream(client.getInputStream());
            while (true) {
                List<String> words = new ArrayList<>();
                byte[] command = read(commands, words);
                if (words.get(0).toUpperCase(Locale.ROOT).endsWith("SUBSCRIBE")) {
                    client.getOutputStream().write("-ERR unsupported command\r\n".getBytes(UTF_8));
                    continue;
                }
                String refused = refusal.apply(words);
                if (refused != null) {
                    client.getOutputStream().write(("-" + refused + "\r\n").getBytes(UTF_8));
                    continue;
                }
                String key = firstKey(words);
                byte[] answer = null;
                for (int i = 0; i < links.size(); i++) {
                    if (key == null || i == serverOf(key)) {
                        byte[] said = ask(links, replies, i, command);
                        answer = answer == null ? said : answer;
                    }
                }
                client.getOutputStream().write(answer);
            }
        } catch (IOException e) {
            // Either side has closed.
        } finally {
            for (Socket link : links) {
                try {
                    link.close();
                } catch (IOException e) {
                    // It was.
                }
            }
        }
    }

    /** Returns the number of the server that has a key. */
    int serverOf(String key) {
        return Math.floorMod(key.hashCode(), servers.size());
    }

    private byte[] ask(List<Socket> links, List<InputStream> replies, int i, byte[] command) throws IOException {
        for (int failures = 0; ; failures++) {
            try {
                links.get(i).getOutputStream().write(command);
                return read(replies.get(i), new ArrayList<>());
            } catch (IOException e) {
                if (!keepsClients || failures == 10) {
                    throw e;
                }
                links.get(i).close();
                links.set(i, new Socket(servers.get(i).host(), servers.get(i).port()));
                replies.set(i, new BufferedInputStream(links.get(i).getInputStream()));
            }
        }
    }

    /** Null for what goes to all servers. */
    private static String firstKey(List<String> words) {
        return switch (words.get(0).toUpperCase(Locale.ROOT)) {
            case "EVAL", "EVALSHA" -> words.get(3);
            case "HSET", "PEXPIRE", "DEL", "PTTL", "PUBLISH" -> words.get(1);
            default -> null;
        };
    }

    /** One command or reply, as it is; its texts are added to the words. */
    private static byte[] read(InputStream in, List<String> words) throws IOException {
        ByteArrayOutputStream raw = new ByteArrayOutputStream();
        read(in, raw, words);
        return raw.toByteArray();
    }

    private static void read(InputStream in, ByteArrayOutputStream raw, List<String> words) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int one = in.read(); one != '\n'; one = in.read()) {
            if (one < 0) {
                throw new EOFException();
            }
            line.write(one);
        }
        line.write('\n');
        raw.writeBytes(line.toByteArray());
        String head = line.toString(UTF_8).trim();
        switch (head.charAt(0)) {
            case '$', '=' -> {
                int size = Integer.parseInt(head.substring(1));
                if (size >= 0) {
                    byte[] text = in.readNBytes(size + 2);
                    raw.writeBytes(text);
                    words.add(new String(text, 0, size, UTF_8));
                }
            }
            case '*', '~', '>', '%' -> {
                int elements = Integer.parseInt(head.substring(1)) * (head.charAt(0) == '%' ? 2 : 1);
                for (int i = 0; i < elements; i++) {
                    read(in, raw, words);
                }
            }
            default -> {}
        }
    }
}
