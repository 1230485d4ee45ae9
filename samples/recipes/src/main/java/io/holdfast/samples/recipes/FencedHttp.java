package io.holdfast.samples.recipes;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes to an HTTP service that refuses the tokens of old holders. */
final class FencedHttp {

    private FencedHttp() {}

    /**
     * Sends a document.
     *
     * @throws LeaseLostException if a later lease has written the document
     */
    static void put(HttpClient http, URI document, String content, Lease lease)
            throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(document)
                .header("Fencing-Token", Long.toString(lease.fencingToken()))
                .PUT(HttpRequest.BodyPublishers.ofString(content))
                .build();
        int status = http.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
        if (status == 412) {
            throw new LeaseLostException(document + " refused " + lease);
        }
        if (status != 204) {
            throw new IOException(document + " answered " + status);
        }
    }

    /** The service: keeps documents by their paths, with the largest token that has written each. */
    static final class Documents implements HttpHandler {

        private record Document(long fence, String content) {}

        private final Map<String, Document> documents = new HashMap<>(); // by this

        @Override
        public void handle(HttpExchange exchange) throws IOException {
            String path = exchange.getRequestURI().getPath();
            String token = exchange.getRequestHeaders().getFirst("Fencing-Token");
            String content = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
            int status = token == null ? 428 : write(path, Long.parseLong(token), content) ? 204 : 412;
            exchange.sendResponseHeaders(status, -1);
            exchange.close();
        }

        private synchronized boolean write(String path, long fence, String content) {
            Document last = documents.get(path);
            if (last != null && last.fence() > fence) {
                return false;
            }
            documents.put(path, new Document(fence, content));
            return true;
        }

        synchronized @Nullable String content(String path) {
            Document document = documents.get(path);
            return document == null ? null : document.content();
        }
    }
}
