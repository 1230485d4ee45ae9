package io.holdfast.samples.start;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.testkit.servers.RedisServer;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** The program of docs/getting-started.md runs. */
class GettingStartedTest {

    @Test
    void the_first_lock_is_acquired_and_released() throws Exception {
        try (RedisServer redis = RedisServer.start();
                LockClient other = LockClient.connect(redis.uri())) {
            assertThat(outputOfFirstLock(redis.uri())).startsWith("Refunding under token ");
            try (Lease lease = other.tryAcquire("order:refund:12345").orElseThrow()) {
                assertThat(lease.isValid()).isTrue();
            }
        }
    }

    /** Presses Enter, too: there is nothing to read. */
    private static String outputOfFirstLock(String uri) throws Exception {
        PrintStream console = System.out;
        InputStream keyboard = System.in;
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        System.setOut(new PrintStream(output, true, StandardCharsets.UTF_8));
        System.setIn(InputStream.nullInputStream());
        try {
            FirstLock.main(new String[] {uri});
        } finally {
            System.setOut(console);
            System.setIn(keyboard);
        }
        return output.toString(StandardCharsets.UTF_8);
    }
}
