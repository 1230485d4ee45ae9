package io.holdfast.bench.harness;

import io.holdfast.bench.agent.Agent;
import io.holdfast.bench.agent.Message;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** The parent's end of one child JVM. Used by one thread. */
final class AgentProcess implements AutoCloseable {

    private static final Message ENDED = Message.of("ended");

    private final Process process;
    private final PrintStream orders;
    private final BlockingQueue<Message> answers = new LinkedBlockingQueue<>();

    private AgentProcess(Process process) {
        this.process = process;
        this.orders = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
    }

    /** Starts a child with this process's Java and class path. The child is ready after its first answer. */
    static AgentProcess start(List<String> jvmArgs, Path log) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(jvmArgs);
        command.addAll(List.of("-cp", classPath(), Agent.class.getName()));
        AgentProcess agent = new AgentProcess(new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start());
        Thread reader = new Thread(agent::readAnswers, "agent-" + agent.process.pid());
        reader.setDaemon(true);
        reader.start();
        return agent;
    }

    void send(Message order) {
        orders.println(order.line());
    }

    /** Returns the next answer. */
    Message await(Duration timeout) throws InterruptedException {
        Message answer = answers.poll(timeout.toMillis(), TimeUnit.MILLISECONDS);
        if (answer == null) {
            throw new IllegalStateException("a child did not answer within " + timeout);
        }
        if (answer.equals(ENDED)) {
            throw new IllegalStateException("a child ended by itself");
        }
        if (answer.verb().equals("error")) {
            throw new IllegalStateException(answer.text("why"));
        }
        return answer;
    }

    /** Ends the child at once, as a crash does. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }

    private void readAnswers() {
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                answers.add(Message.parse(line));
            }
        } catch (IOException e) {
            // The child was killed, which the end of the answers shows.
        }
        answers.add(ENDED);
    }

    /** Returns the class path: Surefire starts its JVM with a jar that only names it. */
    private static String classPath() {
        return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    }
}
