package io.holdfast.samples.recipes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.holdfast.LeaseLostException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FencedHttpTest {

    private final HttpClient http = HttpClient.newHttpClient();
    private final FencedHttp.Documents documents = new FencedHttp.Documents();
    private HttpServer server;
    private URI document;

    @BeforeEach
    void start() throws Exception {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", documents);
        server.start();
        document = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/orders/1");
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    @Test
    void a_service_refuses_an_old_holder() throws Exception {
        try (TwoHolders holders = new TwoHolders("order:1")) {
            FencedHttp.put(http, document, "paid", holders.old);
            var next = holders.next();
            FencedHttp.put(http, document, "packed", next);
            FencedHttp.put(http, document, "sent", next);
            assertThatThrownBy(() -> FencedHttp.put(http, document, "cancelled", holders.old))
                    .isInstanceOf(LeaseLostException.class);

            assertThat(documents.content("/orders/1")).isEqualTo("sent");
        }
    }

    @Test
    void a_service_refuses_a_request_without_a_token() throws Exception {
        HttpRequest put = HttpRequest.newBuilder(document)
                .PUT(HttpRequest.BodyPublishers.ofString("cancelled"))
                .build();
        assertThat(http.send(put, HttpResponse.BodyHandlers.discarding()).statusCode())
                .isEqualTo(428);
        assertThat(documents.content("/orders/1")).isNull();
    }
}
