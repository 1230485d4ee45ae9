package io.holdfast.samples.recipes;

import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The program on a page's first screen runs in an empty folder, with the jar of core alone and without a server, and
 * prints what the page shows. It is compiled by {@code java}, as the page says.
 */
@Tag("deep")
class FirstScreensTest {

    private static final Pattern PROGRAM = Pattern.compile(
            "(?s)```java\n(import .*?\nclass (\\w+) \\{.*?)```.*?```\n\\$ java -cp \\S+ (\\S+)\n(.*?)```");

    @ParameterizedTest
    @ValueSource(strings = {"README.md", "docs/stores/zookeeper.md", "docs/seeing-locks.md", "docs/benchmarks.md"})
    void a_program_prints_what_its_page_shows(String page, @TempDir Path folder) throws Exception {
        MatchResult found = PROGRAM.matcher(Files.readString(Path.of("..", "..").resolve(page)))
                .results()
                .findFirst()
                .orElseThrow();
        String file = found.group(2) + ".java";
        assertThat(found.group(3)).isEqualTo(file);
        Files.writeString(folder.resolve(file), found.group(1));

        assertThat(withoutNumbers(output(folder, file))).isEqualTo(withoutNumbers(found.group(4)));
    }

    private static String output(Path folder, String file) throws Exception {
        Path core = Path.of(LockClient.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        Path output = folder.resolve("output");
        Process program = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        core.toString(),
                        file)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(program.waitFor(1, MINUTES)).isTrue();
        } finally {
            program.destroyForcibly();
        }
        return Files.readString(output);
    }

    /** Tokens, ages, process ids, rates and the name of the host differ. A token is longer than any other number. */
    private static String withoutNumbers(String text) {
        return text.replaceAll("@\\S+", "@host").replaceAll("\\d{15,}", "TOKEN").replaceAll("\\d[\\d,.]*", "N");
    }
}
