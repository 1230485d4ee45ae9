package io.holdfast.cli.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.CardDetail;
import io.holdfast.LockClient;
import io.holdfast.console.web.ConsoleHandler;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The page's server, by requests as they are on the wire: no HTTP client sends a wrong host. */
@Timeout(30)
class PageServerTest {

    private final LockClient client =
            LockClient.builder().uri("memory:page-server").cards(CardDetail.OFF).build();
    private final ConsoleHandler handler = new ConsoleHandler(client, false);
    private PageServer server;
    private URI page;
    private String host;

    @BeforeEach
    void start() throws IOException {
        server = PageServer.start(handler, 0);
        page = URI.create(server.url());
        host = page.getAuthority();
    }

    @AfterEach
    void stop() {
        server.close();
        client.close();
    }

    @Test
    void theUrlShowsThePageWithItsPolicy() throws IOException {
        List<String> answer = ask("GET", page.getPath(), host);
        assertThat(answer.get(0)).isEqualTo("HTTP/1.1 200 OK");
        assertThat(answer)
                .anyMatch(line -> line.matches("(?i)content-security-policy: default-src 'none'; .*"))
                .anyMatch(line -> line.matches("(?i)content-type: text/html;charset=utf-8"))
                .contains("<!DOCTYPE html>");
    }

    @Test
    void withoutTheTokenOrWithAnotherHostThereIsNothing() throws IOException {
        for (List<String> answer : List.of(
                ask("GET", "/", host),
                ask("GET", "/events", host),
                ask("GET", page.getPath() + "x", host),
                ask("GET", page.getPath(), "evil.example:" + page.getPort()),
                ask("GET", page.getPath() + "/events", "evil.example"),
                ask("POST", page.getPath() + "/release?name=n&holder=h", "evil.example"))) {
            assertThat(answer.get(0)).isEqualTo("HTTP/1.1 403 Forbidden");
            assertThat(answer.get(answer.size() - 1)).isEqualTo("Open the URL that \"holdfast console\" has printed.");
            assertThat(answer).anyMatch(line -> line.matches("(?i)x-content-type-options: nosniff"));
        }
    }

    @Test
    void aRequestIsReadAndAMalformedOneRefused() throws IOException {
        assertThat(ask("POST", page.getPath() + "/release?name=n&holder=h", host))
                .startsWith("HTTP/1.1 403 Forbidden")
                .endsWith("This page is read-only");
        assertThat(ask("GET", page.getPath() + "/events?lock=%20", host).get(0)).isEqualTo("HTTP/1.1 400 Bad Request");
        assertThat(ask("GET", page.getPath() + "/events?lock=%zz", host).get(0)).isEqualTo("HTTP/1.1 400 Bad Request");
    }

    @Test
    @Tag("deep") // waits until the server gives up
    void aRequestThatDoesNotArriveWholeIsEndedInTime() throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), page.getPort())) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write("GET / HTTP/1.1\r\nHost: ".getBytes(StandardCharsets.US_ASCII));
            socket.getOutputStream().flush();
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
        }
    }

    @Test
    void eventsComeUntilTheServerEnds() throws IOException {
        try (Socket socket = new Socket(page.getHost(), page.getPort())) {
            write(socket, "GET", page.getPath() + "/events", host);
            BufferedReader lines = lines(socket);
            String line = lines.readLine();
            while (line != null && !line.equals("event: picture")) {
                line = lines.readLine();
            }
            assertThat(line).isEqualTo("event: picture");
            assertThat(lines.readLine()).startsWith("data: {\"locks\":[");
            server.close();
            while (line != null) {
                line = lines.readLine();
            }
        }
    }

    private List<String> ask(String method, String path, String as) throws IOException {
        try (Socket socket = new Socket(page.getHost(), page.getPort())) {
            write(socket, method, path, as);
            BufferedReader lines = lines(socket);
            List<String> answer = new ArrayList<>();
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                answer.add(line);
            }
            return answer;
        }
    }

    private static void write(Socket socket, String method, String path, String as) throws IOException {
        socket.getOutputStream()
                .write((method + " " + path + " HTTP/1.1\r\nHost: " + as
                                + "\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
                        .getBytes(StandardCharsets.US_ASCII));
    }

    private static BufferedReader lines(Socket socket) throws IOException {
        return new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
    }
}
