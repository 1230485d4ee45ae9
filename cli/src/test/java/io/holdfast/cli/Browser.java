package io.holdfast.cli;

import io.holdfast.console.json.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;

/** A real Chromium without a window, driven by the DevTools protocol. */
final class Browser implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Process process;
    private final WebSocket socket;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private final List<String> complaints = new CopyOnWriteArrayList<>();
    private int commands;

    /** Returns the program; empty if this machine has none. */
    static Optional<Path> program() {
        return Arrays.stream(System.getenv("PATH").split(":"))
                .map(folder -> Path.of(folder, "chromium"))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /** @param profile an empty folder */
    Browser(Path program, Path profile) throws IOException, InterruptedException {
        process = new ProcessBuilder(
                        program.toString(),
                        "--headless=new",
                        "--no-sandbox", // tests may run as root
                        "--disable-gpu",
                        "--no-first-run",
                        "--remote-debugging-port=0",
                        "--user-data-dir=" + profile,
                        "--window-size=1280,900",
                        "about:blank")
                .redirectErrorStream(true)
                .redirectOutput(profile.resolve("log").toFile())
                .start();
        Path port = profile.resolve("DevToolsActivePort");
        Awaitility.await().atMost(PATIENCE).until(() -> Files.exists(port) && Files.size(port) > 0);
        HttpClient http = HttpClient.newHttpClient();
        String address = "http://127.0.0.1:" + Files.readAllLines(port).get(0) + "/json/list";
        String pages = Awaitility.await()
                .atMost(PATIENCE)
                .until(
                        () -> http.send(
                                        HttpRequest.newBuilder(URI.create(address))
                                                .build(),
                                        HttpResponse.BodyHandlers.ofString())
                                .body(),
                        list -> list.contains("devtools/page/"));
        socket = http.newWebSocketBuilder()
                .buildAsync(URI.create(field(pages, "webSocketDebuggerUrl")), new Receiver())
                .join();
        send("Log.enable", "{}");
        send("Runtime.enable", "{}");
    }

    /** Opens a page. */
    void open(String url) throws InterruptedException {
        send("Page.navigate", Json.text(Json.object("url", url)));
    }

    /** Sends the system's wish for a dark or a light page. */
    void prefer(String scheme) throws InterruptedException {
        send(
                "Emulation.setEmulatedMedia",
                Json.text(Json.object(
                        "features", List.of(Json.object("name", "prefers-color-scheme", "value", scheme)))));
    }

    /** Waits until an expression of JavaScript is true. */
    void await(String expression) {
        Awaitility.await(expression)
                .atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(200))
                .until(() -> value(expression).equals("true"));
    }

    /** Returns the value of an expression of JavaScript, as text. */
    String value(String expression) throws InterruptedException {
        return field(
                send("Runtime.evaluate", Json.text(Json.object("expression", "String(" + expression + ")"))), "value");
    }

    /** Presses a key. */
    void press(String key) throws InterruptedException {
        String text = key.length() == 1 ? key : "";
        send("Input.dispatchKeyEvent", Json.text(Json.object("type", "keyDown", "key", key, "text", text)));
        send("Input.dispatchKeyEvent", Json.text(Json.object("type", "keyUp", "key", key)));
    }

    /** Types a text where the keyboard is. */
    void type(String text) throws InterruptedException {
        send("Input.insertText", Json.text(Json.object("text", text)));
    }

    /** Writes what is to be seen as a PNG. */
    void screenshot(Path file) throws InterruptedException, IOException {
        Files.write(file, Base64.getDecoder().decode(field(send("Page.captureScreenshot", "{}"), "data")));
    }

    /** Returns what the browser refused or complained about. */
    List<String> complaints() {
        return complaints;
    }

    private String send(String method, String parameters) throws InterruptedException {
        int id = ++commands;
        socket.sendText("{\"id\":" + id + ",\"method\":\"" + method + "\",\"params\":" + parameters + "}", true)
                .join();
        while (true) {
            String answer = answers.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            if (answer == null || answer.contains("\"error\":{")) {
                throw new AssertionError(method + ": " + answer);
            }
            if (answer.startsWith("{\"id\":" + id + ",")) {
                return answer;
            }
        }
    }

    /** Returns the first field of this name; texts that need unescaping are not asked for. */
    private static String field(String json, String name) {
        Matcher matcher =
                Pattern.compile('"' + name + "\": ?\"((?:[^\"\\\\]|\\\\.)*+)\"").matcher(json);
        if (!matcher.find()) {
            throw new AssertionError("no " + name + " in " + json);
        }
        return matcher.group(1);
    }

    @Override
    public void close() {
        try {
            send("Browser.close", "{}"); // it removes its files
            var unused = process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        socket.abort();
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly().onExit().join();
    }

    private final class Receiver implements WebSocket.Listener {

        private final StringBuilder message = new StringBuilder();

        @Override
        public CompletionStage<?> onText(WebSocket from, CharSequence part, boolean last) {
            message.append(part);
            if (last) {
                String whole = message.toString();
                message.setLength(0);
                if (whole.startsWith("{\"id\":")) {
                    answers.add(whole);
                } else if (whole.contains("\"Log.entryAdded\"") || whole.contains("\"Runtime.exceptionThrown\"")) {
                    complaints.add(whole);
                }
            }
            from.request(1);
            return null;
        }
    }
}
