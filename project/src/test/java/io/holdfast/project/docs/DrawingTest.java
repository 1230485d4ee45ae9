package io.holdfast.project.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The drawings of the paths through the engine, in the heads of its packages, name classes that exist. */
class DrawingTest {

    private static final String CORE = "core/src/main/java/io/holdfast/";

    /** The longest path that a reader can be asked to follow. */
    private static final int STEPS_MAX = 20;

    private static final Pattern DRAWING = Pattern.compile("(?s)<pre>\n(.*?)</pre>");
    private static final Pattern STEP = Pattern.compile("(?m)^ \\* +(\\d+) +(\\w+)");

    /** The name of a type of two words or more, as in the text beside a step. */
    private static final Pattern TYPE = Pattern.compile("\\b[A-Z][a-z]+(?:[A-Z][a-z]+)+\\b");

    @Test
    void eachClassOfADrawingExists() {
        Set<String> types = Pages.files(".java").stream()
                .filter(file -> file.toString().replace('\\', '/').contains("/src/main/"))
                .map(file -> file.getFileName().toString().replaceFirst("\\.java$", ""))
                .collect(Collectors.toSet());
        assertThat(all()).hasSize(5).allSatisfy(drawing -> {
            assertThat(types).containsAll(steps(drawing, 2));
            assertThat(types)
                    .containsAll(TYPE.matcher(drawing)
                            .results()
                            .map(found -> found.group())
                            .toList());
        });
    }

    @Test
    void theStepsAreNumberedInOrder() {
        assertThat(all()).allSatisfy(drawing -> {
            List<String> numbers = steps(drawing, 1);
            assertThat(numbers).hasSizeBetween(5, STEPS_MAX);
            assertThat(numbers)
                    .isEqualTo(IntStream.rangeClosed(1, numbers.size())
                            .mapToObj(Integer::toString)
                            .toList());
        });
    }

    @Test
    void theEngineHasFourJourneysThatEnterTheTenureTwiceAtMost() {
        List<List<String>> journeys = drawings("engine/package-info.java").stream()
                .map(drawing -> steps(drawing, 2))
                .toList();
        assertThat(journeys)
                .extracting(journey -> journey.get(0))
                .containsExactly("LeaseHandle", "RenewalTimer", "Engine", "Tenure");
        assertThat(journeys)
                .allSatisfy(journey ->
                        assertThat(journey.stream().filter("Tenure"::equals)).hasSizeLessThanOrEqualTo(2));
    }

    private static List<String> all() {
        return Stream.of("package-info.java", "engine/package-info.java")
                .flatMap(page -> drawings(page).stream())
                .toList();
    }

    private static List<String> drawings(String page) {
        return DRAWING.matcher(Pages.text(Path.of(CORE + page)))
                .results()
                .map(found -> found.group(1))
                .toList();
    }

    private static List<String> steps(String drawing, int group) {
        return STEP.matcher(drawing).results().map(step -> step.group(group)).toList();
    }
}
