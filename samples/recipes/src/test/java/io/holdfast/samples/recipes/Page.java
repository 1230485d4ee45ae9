package io.holdfast.samples.recipes;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A page of the documentation. */
final class Page {

    private static final Pattern CODE = Pattern.compile("(?ms)^```(?:java|sql)$(.*?)^```$");
    private static final List<Path> TESTED =
            List.of(Path.of("src", "test", "java"), Path.of("..", "refunds", "src", "test", "java"));

    private Page() {}

    /**
     * Checks that each block of Java or SQL of the page is a part of a test; comments and blanks do not count. Neither do
     * whole programs, and blocks that leave something out.
     */
    static void assertItsCodeIsTested(String page, int blocks) throws IOException {
        StringBuilder tests = new StringBuilder();
        for (Path folder : TESTED) {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.filter(Files::isRegularFile).toList()) {
                    tests.append(code(Files.readString(file)));
                }
            }
        }
        assertThat(CODE.matcher(text(page))
                        .results()
                        .map(block -> code(block.group(1)))
                        .filter(block -> !block.startsWith("import") && !block.contains("…")))
                .hasSize(blocks)
                .allSatisfy(block -> assertThat(tests).contains(block));
    }

    static String text(String page) throws IOException {
        return Files.readString(Path.of("..", "..", "docs", page));
    }

    private static String code(String text) {
        return text.replaceAll("//.*", "").replaceAll("\\s", "");
    }
}
