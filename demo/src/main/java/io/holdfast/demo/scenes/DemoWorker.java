package io.holdfast.demo.scenes;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * The main program of a process that acts in the demonstration. Reads requests from standard input, each with an {@code
 * id}, and writes to standard output a reply with the same id for each, in the order in which they are done. Ends when
 * standard input does: with the process that started it.
 */
public final class DemoWorker {

    private DemoWorker() {}

    public static void main(String[] args) throws IOException {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.US_ASCII);
        WorkerTasks tasks = new WorkerTasks();
        ExecutorService threads = Executors.newCachedThreadPool();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        String line;
        while ((line = in.readLine()) != null) {
            Message request = Message.parse(line);
            threads.execute(() -> out.println(
                    answer(tasks, request).with("id", request.text("id")).line()));
        }
        // Like a crash: what this process holds ends with its lease.
        Runtime.getRuntime().halt(0);
    }

    @SuppressWarnings("CatchAndPrintStackTrace") // seen with --debug only; the reply has the gist
    private static Message answer(WorkerTasks tasks, Message request) {
        try {
            return tasks.perform(request);
        } catch (Exception | Error e) {
            e.printStackTrace();
            return Message.of("failed", "error", e.toString());
        }
    }
}
