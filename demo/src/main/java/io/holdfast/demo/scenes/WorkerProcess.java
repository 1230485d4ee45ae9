package io.holdfast.demo.scenes;

import io.holdfast.cli.process.Kill;
import io.holdfast.testkit.servers.ChildJvm;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** A {@link DemoWorker} as its director sees it. Thread-safe. */
final class WorkerProcess implements AutoCloseable {

    private final String name;
    private final Process process;
    private final Writer requests; // guarded by itself
    private final Map<Long, CompletableFuture<Message>> open = new ConcurrentHashMap<>();
    private final AtomicLong ids = new AtomicLong();
    private volatile boolean ended;

    private WorkerProcess(String name, Process process) {
        this.name = name;
        this.process = process;
        this.requests = process.outputWriter(StandardCharsets.US_ASCII);
        Thread reader = new Thread(this::readReplies, "holdfast-demo-" + name);
        reader.setDaemon(true);
        reader.start();
    }

    /** Starts a process with this one's Java and class path. */
    static WorkerProcess start(String name, boolean debug) throws IOException {
        Process process = ChildJvm.command("-Xmx64m", DemoWorker.class.getName())
                .redirectError(debug ? ProcessBuilder.Redirect.INHERIT : ProcessBuilder.Redirect.DISCARD)
                .start();
        return new WorkerProcess(name, process);
    }

    /** One word that names it in a history. */
    String id() {
        return name.replace(' ', '-');
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Asks for something; the reply comes when it is done. Fails if the process says so, or ends before. */
    CompletableFuture<Message> ask(String verb, Object... keysAndValues) {
        long id = ids.incrementAndGet();
        CompletableFuture<Message> reply = new CompletableFuture<>();
        open.put(id, reply);
        String line = Message.of(verb, keysAndValues).with("id", id).line();
        try {
            synchronized (requests) {
                requests.write(line + "\n");
                requests.flush();
            }
        } catch (IOException e) {
            reply.completeExceptionally(e);
        }
        if (ended) {
            failAll();
        }
        return reply;
    }

    private void readReplies() {
        try (BufferedReader in = process.inputReader(StandardCharsets.US_ASCII)) {
            String line;
            while ((line = in.readLine()) != null) {
                Message reply = Message.parse(line);
                CompletableFuture<Message> waiting = open.remove(reply.number("id"));
                if (waiting == null) {
                    continue;
                }
                if (reply.verb().equals("ok")) {
                    waiting.complete(reply);
                } else {
                    waiting.completeExceptionally(new IOException(name + ": " + reply.text("error")));
                }
            }
        } catch (IOException e) {
            // Ended while it was read from: the same as its end.
        }
        ended = true;
        failAll();
    }

    private void failAll() {
        open.values().forEach(reply -> reply.completeExceptionally(new IOException(name + " has ended")));
    }

    /** SIGKILL: no shutdown hook, no release. */
    void kill() {
        process.destroyForcibly();
    }

    /** SIGSTOP: as a long garbage collection, a swapped machine or a suspended one. */
    void pause() throws IOException, InterruptedException {
        Kill.send("STOP", List.of(process.pid()));
    }

    void resume() throws IOException, InterruptedException {
        Kill.send("CONT", List.of(process.pid()));
    }

    @Override
    public void close() {
        kill(); // also one that is paused
    }
}
