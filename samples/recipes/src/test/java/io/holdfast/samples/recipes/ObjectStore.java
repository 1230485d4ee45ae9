package io.holdfast.samples.recipes;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * A stand-in for S3 with one object: GET, and PUT with {@code If-Match} or {@code If-None-Match: *}. The ETag is the
 * MD5 of the content, as on S3: equal contents have equal tags.
 */
final class ObjectStore implements AutoCloseable {

    private final HttpServer server;
    private byte[] content; // by this

    ObjectStore() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::handle);
        server.start();
    }

    URI object() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/bucket/object");
    }

    synchronized String content() {
        return new String(content, UTF_8);
    }

    @Override
    public void close() {
        server.stop(0);
    }

    private void handle(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readAllBytes();
        synchronized (this) {
            if (exchange.getRequestMethod().equals("PUT")) {
                exchange.sendResponseHeaders(put(exchange, body), -1);
            } else if (content == null) {
                exchange.sendResponseHeaders(404, -1);
            } else {
                exchange.getResponseHeaders().set("ETag", etag());
                exchange.sendResponseHeaders(200, content.length);
                exchange.getResponseBody().write(content);
            }
        }
        exchange.close();
    }

    private int put(HttpExchange exchange, byte[] body) {
        String match = exchange.getRequestHeaders().getFirst("If-Match");
        boolean onlyNew = "*".equals(exchange.getRequestHeaders().getFirst("If-None-Match"));
        if (match != null && content == null) {
            return 404;
        }
        if (match == null ? onlyNew && content != null : !match.equals(etag())) {
            return 412;
        }
        content = body;
        return 200;
    }

    private String etag() {
        try {
            byte[] digest = MessageDigest.getInstance("MD5").digest(content);
            return '"' + HexFormat.of().formatHex(digest) + '"';
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
