package io.holdfast.bench.agent;

import io.holdfast.bench.peer.Handle;
import io.holdfast.bench.peer.Peer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A measured child process. Reads orders from its input, one line each, and answers each with one line: {@code ok} and
 * figures, or {@code error} and the reason. Ends when its input ends, so that no child outlives its parent.
 */
public final class Agent {

    private static final Map<String, Task> TASKS = Map.of(
            "pairs", new PairTask(),
            "count", new CountTask(),
            "async", new AsyncTask(),
            "cold", new ColdTask(),
            "hold", new HoldTask(),
            "churn", new ChurnTask(),
            "series", new SeriesTask(),
            "take", new TakeTask(),
            "virtual", new VirtualThreadsTask());

    private @Nullable Handle handle;

    private Agent() {}

    public static void main(String[] args) throws IOException {
        PrintStream answers = System.out;
        // The output of a library must not look like an answer.
        System.setOut(System.err);
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Agent agent = new Agent();
        answers.println("ready");
        for (String line = orders.readLine(); line != null; line = orders.readLine()) {
            answers.println(agent.answer(Message.parse(line)).line());
            answers.flush();
        }
        // Not exit(): the shutdown of a peer is not measured, and must not keep this process alive.
        Runtime.getRuntime().halt(0);
    }

    private Message answer(Message order) {
        try {
            switch (order.verb()) {
                case "open" ->
                    handle = Peer.of(order.text("peer"))
                            .open(order.text("uri"), Duration.ofMillis(order.number("lease")));
                case "close" -> {
                    opened().close();
                    handle = null;
                }
                default -> {
                    return figures(order);
                }
            }
            return Message.of("ok");
        } catch (Exception | LinkageError e) {
            StringWriter trace = new StringWriter();
            e.printStackTrace(new PrintWriter(trace));
            return Message.of("error").with("why", trace);
        }
    }

    private Message figures(Message order) throws Exception {
        Task task = TASKS.get(order.verb());
        if (task == null) {
            throw new IllegalArgumentException("order: " + order.verb() + " (expected: one of " + TASKS.keySet() + ")");
        }
        Message reply = Message.of("ok");
        for (Map.Entry<String, Double> figure : task.run(opened(), order).entrySet()) {
            reply = reply.with(figure.getKey(), figure.getValue());
        }
        return reply;
    }

    private Handle opened() {
        return Objects.requireNonNull(handle, "no peer is open");
    }
}
