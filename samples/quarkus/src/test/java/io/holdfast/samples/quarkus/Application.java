package io.holdfast.samples.quarkus;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A process that runs the packaged application. */
final class Application implements AutoCloseable {

    /** The folder that the build has made. */
    static final Path BUILT = Path.of("target", "quarkus-app");

    private static final Pattern LISTENS = Pattern.compile("Listening on: http://[^:]+:(\\d+)");
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    private final Process process;
    private final Path log;

    private Application(Process process, Path log) {
        this.process = process;
        this.log = log;
    }

    /** Starts the application of a folder, with system properties. */
    static Application start(Path app, Path log, String... properties) throws IOException {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx256m"));
        command.addAll(List.of(properties));
        command.addAll(List.of("-jar", app.resolve("quarkus-run.jar").toString()));
        return new Application(
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(log.toFile())
                        .start(),
                log);
    }

    long pid() {
        return process.pid();
    }

    String log() throws IOException {
        return Files.readString(log);
    }

    /** Waits until the process has ended, and returns its exit code. */
    int awaitEnd() throws Exception {
        assertThat(process.waitFor(2, TimeUnit.MINUTES)).as(log()).isTrue();
        return process.exitValue();
    }

    /** Waits until the application listens, and returns its port. */
    int port() throws Exception {
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
        while (process.isAlive() && System.nanoTime() < end) {
            Matcher found = LISTENS.matcher(log());
            if (found.find()) {
                return Integer.parseInt(found.group(1));
            }
            Thread.sleep(50);
        }
        throw new IllegalStateException("The application does not listen:\n" + log());
    }

    static CompletableFuture<String> post(int port, String path) {
        return send(request(port, path).POST(HttpRequest.BodyPublishers.noBody()))
                .thenApply(HttpResponse::body);
    }

    static String get(int port, String path) {
        return send(request(port, path)).join().body();
    }

    static HttpRequest.Builder request(int port, String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path));
    }

    static CompletableFuture<HttpResponse<String>> send(HttpRequest.Builder request) {
        return HTTP.sendAsync(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    /** Asks the application to end, as a platform does. */
    void terminate() {
        process.destroy();
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
