package io.holdfast.project.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The rules that comments cite by number are on the page of the engine's rules, and each has its tests. */
class EngineRulesTest {

    private static final Path PAGE = Path.of("docs/engine-rules.md");
    private static final Path TESTS = Path.of("docs/testing.md");

    /** A paragraph of the page that states a rule: its number, its title and the link to its tests. */
    private static final Pattern RULE = Pattern.compile(
            "(?m)^\\*\\*(\\d+)\\. ([^*]+?)[.,]?\\*\\*(?:.+\\n)+?.*\\(\\[tests]\\(testing\\.md#(\\S+)\\)\\)$");

    private static final Pattern CITATION = Pattern.compile("\\b[Rr]ules?[\\s*]+(\\d+(?:(?:, | and |, and )\\d+)*)");

    private static final Map<Integer, String> RULES = RULE.matcher(Pages.text(PAGE))
            .results()
            .collect(Collectors.toMap(rule -> Integer.parseInt(rule.group(1)), rule -> rule.group(3)));

    @Test
    void theRulesAreNumberedWithoutAGap() {
        assertThat(RULES.keySet())
                .containsExactlyElementsOf(IntStream.rangeClosed(1, 14).boxed().toList());
    }

    @Test
    void eachRuleHasItsTests() {
        RULES.forEach((number, anchor) -> assertThat(anchor).startsWith(number + "-"));
        assertThat(Pages.anchors(TESTS)).containsAll(RULES.values());
        assertThat(Pages.anchors(TESTS).stream().filter(anchor -> anchor.matches("\\d.*")))
                .as("rules with tests")
                .containsExactlyInAnyOrderElementsOf(RULES.values());
    }

    @Test
    void eachCitationIsARuleOfThePage() {
        List<String> cited = new ArrayList<>();
        List<String> unknown = new ArrayList<>();
        for (Path source : Pages.files(".java")) {
            for (int number : citations(Pages.text(source))) {
                (RULES.containsKey(number) ? cited : unknown).add(source + " cites rule " + number);
            }
        }
        assertThat(unknown).as("rules that are not in " + PAGE).isEmpty();
        assertThat(cited).hasSizeGreaterThan(30);
    }

    @Test
    void aCitationOfNoRuleIsFound() {
        String comment = "/** Ends the wait (engine\n * rule 11). Rules 4, 5 and 13 hold, and rule " + 15;
        assertThat(citations(comment)).containsExactly(11, 4, 5, 13, 15);
        assertThat(RULES).doesNotContainKey(15);
    }

    private static List<Integer> citations(String source) {
        return CITATION.matcher(source)
                .results()
                .flatMap(found -> Arrays.stream(found.group(1).split("\\D+")))
                .map(Integer::valueOf)
                .toList();
    }
}
