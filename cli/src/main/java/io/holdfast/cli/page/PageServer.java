package io.holdfast.cli.page;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.holdfast.console.web.ConsoleHandler;
import io.holdfast.console.web.ConsoleRequest;
import io.holdfast.console.web.ConsoleResponse;
import io.holdfast.console.web.EventStream;
import io.holdfast.console.web.LocalAccess;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/** Serves the page on the loopback address, to browsers that have its URL. */
public final class PageServer implements AutoCloseable {

    /** More than the streams of events that a handler opens, so that some are left for other requests. */
    private static final int THREADS = 24;

    /** The JDK's setting of the seconds that a request may take to arrive. Without it there is no limit. */
    private static final String REQUEST_SECONDS_MAX = "sun.net.httpserver.maxReqTime";

    static {
        // Otherwise a few requests that are never sent to their end would take all threads.
        if (System.getProperty(REQUEST_SECONDS_MAX) == null) {
            System.setProperty(REQUEST_SECONDS_MAX, "5");
        }
    }

    private static final int FORBIDDEN = 403;
    private static final int BAD_REQUEST = 400;
    private static final int NO_BODY = -1;

    private final HttpServer server;
    private final ExecutorService threads;
    private final ConsoleHandler handler;
    private final LocalAccess access;

    private PageServer(HttpServer server, ConsoleHandler handler) {
        this.server = server;
        this.handler = handler;
        this.access = new LocalAccess(server.getAddress().getPort());
        this.threads = Executors.newFixedThreadPool(THREADS, task -> {
            Thread thread = new Thread(task, "holdfast-page");
            thread.setDaemon(true);
            return thread;
        });
    }

    /**
     * Starts a server.
     *
     * @param port 0 for any free one
     * @throws IOException if the port is taken
     */
    public static PageServer start(ConsoleHandler handler, int port) throws IOException {
        InetAddress loopback = InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
        PageServer started = new PageServer(HttpServer.create(new InetSocketAddress(loopback, port), 0), handler);
        started.server.createContext("/", started::serve);
        started.server.setExecutor(started.threads);
        started.server.start();
        return started;
    }

    /** Returns the URL of the page, with its token. */
    public String url() {
        return access.url();
    }

    @Override
    public void close() {
        handler.close();
        server.stop(0);
        threads.shutdownNow();
    }

    private void serve(HttpExchange exchange) throws IOException {
        try (exchange) {
            String host = exchange.getRequestHeaders().getFirst("Host");
            Optional<String> path = access.path(exchange.getRequestURI().getPath());
            if (!access.isOwnHost(host) || path.isEmpty()) {
                refuse(exchange, FORBIDDEN, "Open the URL that \"holdfast console\" has printed.");
                return;
            }
            Map<String, String> parameters;
            try {
                parameters = parameters(exchange.getRequestURI().getRawQuery());
            } catch (IllegalArgumentException e) {
                refuse(exchange, BAD_REQUEST, "The query of this URL is malformed.");
                return;
            }
            send(
                    exchange,
                    handler.handle(new ConsoleRequest(
                            exchange.getRequestMethod(),
                            path.get(),
                            parameters,
                            "http://" + host,
                            exchange.getRequestHeaders()::getFirst)));
        }
    }

    private static void refuse(HttpExchange exchange, int status, String sentence) throws IOException {
        send(
                exchange,
                new ConsoleResponse(
                        status, ConsoleHandler.headers("text/plain;charset=utf-8"), sentence, Optional.empty()));
    }

    private static void send(HttpExchange exchange, ConsoleResponse response) throws IOException {
        response.headers().forEach(exchange.getResponseHeaders()::set);
        if (response.events().isPresent()) {
            try (EventStream events = response.events().get()) {
                exchange.sendResponseHeaders(response.status(), 0);
                stream(events, exchange.getResponseBody());
            }
        } else {
            byte[] body = response.body().getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(response.status(), body.length == 0 ? NO_BODY : body.length);
            exchange.getResponseBody().write(body);
        }
    }

    /** Sends until the stream ends, or the browser is gone. */
    private static void stream(EventStream events, OutputStream out) throws IOException {
        try {
            for (String event = events.next(); event != null; event = events.next()) {
                out.write(event.getBytes(StandardCharsets.UTF_8));
                out.flush();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException();
        }
    }

    private static Map<String, String> parameters(@Nullable String query) {
        Map<String, String> parameters = new HashMap<>();
        if (query != null) {
            for (String pair : query.split("&", 0)) {
                int end = pair.indexOf('=');
                if (end > 0) {
                    parameters.put(decoded(pair.substring(0, end)), decoded(pair.substring(end + 1)));
                }
            }
        }
        return parameters;
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }
}
