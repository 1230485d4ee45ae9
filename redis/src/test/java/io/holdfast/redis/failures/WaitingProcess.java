package io.holdfast.redis.failures;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.testkit.servers.ChildJvm;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** A JVM of its own that waits for a lock, holds it until the test releases it, and can be killed at any moment. */
final class WaitingProcess implements HandOffFaultsTest.Victim {

    private final Process process;
    private final BufferedReader words;

    private WaitingProcess(Process process) {
        this.process = process;
        this.words = process.inputReader(StandardCharsets.UTF_8);
    }

    /** Runs in the child: the URI, the lock's name. Ends when its input does. */
    public static void main(String[] args) throws Exception {
        try (LockClient client = UnderFault.client(args[0], UnderFault.SHORT_LEASE)) {
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            var acquiring = client.acquireAsync(args[1], LockOptions.defaults().waitAtMost(Duration.ofMinutes(1)));
            Lease lease = acquiring.toCompletableFuture().get(1, TimeUnit.MINUTES);
            System.out.println(lease.fencingToken());
            if (in.readLine() != null) {
                lease.release();
            }
        }
        Runtime.getRuntime().halt(0);
    }

    static WaitingProcess start(String uri, String name) throws IOException {
        return new WaitingProcess(ChildJvm.command("-Xmx96m", WaitingProcess.class.getName(), uri, name)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start());
    }

    @Override
    public long token() throws IOException {
        return Long.parseLong(words.readLine());
    }

    @Override
    public void release() throws IOException {
        process.getOutputStream().write('\n');
        process.getOutputStream().flush();
    }

    /** SIGKILL. What is on its way by then still arrives. */
    @Override
    public void die() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
