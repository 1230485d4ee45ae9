package io.holdfast.samples.start;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.testkit.servers.RedisServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page's program runs, and the page shows the code of this package. */
class GettingStartedTest {

    private static final Pattern BLOCK = Pattern.compile("(?s)```java\n(.*?)```");

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

    @Test
    void the_pages_show_the_code_of_this_package() throws IOException {
        String sources = sources();
        for (String page : List.of("getting-started", "operations")) {
            List<String> blocks = BLOCK.matcher(Files.readString(Path.of("../../docs/" + page + ".md")))
                    .results()
                    .map((MatchResult block) -> block.group(1))
                    .toList();
            assertThat(blocks)
                    .isNotEmpty()
                    .allSatisfy(block -> assertThat(sources).contains(blankless(block)));
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

    private static String sources() throws IOException {
        StringBuilder sources = new StringBuilder();
        try (Stream<Path> files = Files.walk(Path.of("src/test/java/io/holdfast/samples/start"))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                sources.append(blankless(Files.readString(file)));
            }
        }
        return sources.toString();
    }

    private static String blankless(String code) {
        return code.replaceAll("\\s", "");
    }
}
