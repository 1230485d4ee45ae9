package io.holdfast.samples.recipes;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Compares the numbers of lines in docs/recipes.md with its code and with that of Redisson. */
class RecipesPageTest {

    private static final Path REDISSON =
            Path.of("src", "test", "java", "io", "holdfast", "samples", "recipes", "RedissonRecipes.java");

    private static final Pattern SECTION = Pattern.compile("(?ms)^## (.+?)$(.*?)(?=^## |\\z)");
    private static final Pattern CODE = Pattern.compile("(?ms)^```\\w+$(.*?)^```$");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| \\[([^]]+)]\\(#[^)]+\\) \\| (\\d+) \\| (\\d+) \\|");
    private static final Pattern VARIANT = Pattern.compile("(?ms)^ {4}// --- (.+?)$(.*?)(?=^ {4}// --- |^}$)");

    private final String page = read(Path.of("..", "..", "docs", "recipes.md"));

    @Test
    void the_table_has_the_numbers_of_lines() {
        Map<String, List<Integer>> rows = matches(ROW, page)
                .collect(Collectors.toMap(
                        row -> row.group(1),
                        row -> List.of(Integer.valueOf(row.group(2)), Integer.valueOf(row.group(3)))));
        Map<String, Integer> ours = new LinkedHashMap<>();
        matches(SECTION, page)
                .forEach(section -> matches(CODE, section.group(2))
                        .findFirst()
                        .ifPresent(code -> ours.put(section.group(1), lines(code.group(1)))));
        Map<String, List<Integer>> counted = matches(VARIANT, read(REDISSON))
                .collect(Collectors.toMap(
                        variant -> variant.group(1),
                        variant -> List.of(ours.getOrDefault(variant.group(1), 0), lines(variant.group(2)))));
        assertThat(rows).isEqualTo(counted);
    }

    /** Counts the lines that are neither blank nor a comment. */
    private static int lines(String code) {
        return (int) code.lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty() && !line.startsWith("//"))
                .count();
    }

    private static Stream<MatchResult> matches(Pattern pattern, String text) {
        return pattern.matcher(text).results();
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
