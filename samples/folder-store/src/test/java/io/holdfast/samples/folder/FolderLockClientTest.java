package io.holdfast.samples.folder;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.LockStoreException;
import io.holdfast.testkit.servers.ChildJvm;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an application sees of the store: by its URI, and between processes. */
class FolderLockClientTest {

    private static final Duration LEASE = Duration.ofSeconds(2);

    @TempDir
    Path folder;

    /** Another process that takes the lock, prints its token and keeps the lock. */
    static final class Holder {
        public static void main(String[] args) throws InterruptedException {
            LockClient locks =
                    LockClient.builder().uri(args[0]).leaseTime(LEASE).build();
            System.out.println(locks.acquire("report").fencingToken());
            LockSupport.park();
        }
    }

    @Test
    void aProcessThatIsKilledKeepsTheLockForOneLease() throws Exception {
        Process other = start(Holder.class, uri());
        try (BufferedReader output = other.inputReader();
                LockClient locks = LockClient.connect(uri())) {
            long token = Long.parseLong(output.readLine());
            // Longer than a lease: the other process renews.
            assertThat(locks.tryAcquire("report", LEASE.multipliedBy(2))).isEmpty();

            other.destroyForcibly().waitFor();
            assertThat(locks.tryAcquire("report")).isEmpty();
            try (Lease lease =
                    locks.tryAcquire("report", Duration.ofSeconds(60)).orElseThrow()) {
                assertThat(lease.fencingToken()).isGreaterThan(token);
            }
        } finally {
            other.destroyForcibly();
        }
    }

    /** Another process that stops in the middle of a command: nobody can do anything in the folder then. */
    static final class Stopped {
        public static void main(String[] args) throws IOException {
            FileChannel channel = FileChannel.open(Path.of(args[0], "lock"), CREATE, WRITE);
            System.out.println(channel.lock());
            LockSupport.park();
        }
    }

    @Test
    void aProcessThatStopsInTheMiddleIsAFailureAndNotBusy() throws Exception {
        Process other = start(Stopped.class, folder.toString());
        try (BufferedReader output = other.inputReader();
                LockClient locks = LockClient.connect(uri())) {
            assertThat(output.readLine()).isNotNull();
            assertThatThrownBy(() -> locks.tryAcquire("report"))
                    .isInstanceOf(LockStoreException.class)
                    .hasMessageContaining("another process has kept folder:" + folder);

            other.destroyForcibly().waitFor();
            assertThat(locks.tryAcquire("report")).isPresent();
        } finally {
            other.destroyForcibly();
        }
    }

    @Test
    void aFolderThatHasGoneIsAFailureAndNotBusy() throws Exception {
        try (LockClient locks = LockClient.connect(uri())) {
            locks.run("report", lease -> {});
            try (var files = Files.list(folder)) {
                for (Path file : files.toList()) {
                    Files.delete(file);
                }
            }
            Files.delete(folder);
            assertThatThrownBy(() ->
                            locks.tryAcquire("report", LockOptions.defaults().waitAtMost(Duration.ofSeconds(1))))
                    .isInstanceOf(LockStoreException.class)
                    .hasMessageContaining("folder:" + folder);
        }
    }

    @Test
    void aClientIsMadeFromTheStoreItself() throws Exception {
        LockClient locks = LockClient.builder()
                .store(context -> new FolderLockStore(folder, context))
                .build();
        try (locks;
                Lease lease = locks.acquire("report");
                LockClient other = LockClient.connect(uri())) {
            assertThat(lease.isValid()).isTrue();
            assertThat(other.tryAcquire("report")).isEmpty();
        }
    }

    @Test
    void aPathThatIsNotAbsoluteIsRefused() {
        assertThatThrownBy(() -> LockClient.connect("folder:locks"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("folder:locks")
                .hasMessageContaining("expected: folder:/path/of/a/folder");
    }

    private static Process start(Class<?> program, String argument) throws IOException {
        return ChildJvm.command(program.getName(), argument)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private String uri() {
        return "folder:" + folder;
    }
}
