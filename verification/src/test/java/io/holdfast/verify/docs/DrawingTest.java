package io.holdfast.verify.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The drawing of an acquire's path, in the head of the package {@code io.holdfast}, names classes that exist. */
class DrawingTest {

    private static final Path PAGE = Path.of("core/src/main/java/io/holdfast/package-info.java");

    /** The longest path that a reader can be asked to follow. */
    private static final int STEPS_MAX = 20;

    private static final Pattern STEP = Pattern.compile("(?m)^ \\* +(\\d+) +(\\w+)");

    /** The name of a type of two words or more, as in the text beside a step. */
    private static final Pattern TYPE = Pattern.compile("\\b[A-Z][a-z]+(?:[A-Z][a-z]+)+\\b");

    @Test
    void eachClassOfTheDrawingExists() {
        String drawing = drawing();
        Set<String> types = Pages.files(".java").stream()
                .filter(file -> file.toString().replace('\\', '/').contains("/src/main/"))
                .map(file -> file.getFileName().toString().replaceFirst("\\.java$", ""))
                .collect(Collectors.toSet());
        assertThat(types).containsAll(steps(drawing, 2));
        assertThat(types)
                .containsAll(TYPE.matcher(drawing)
                        .results()
                        .map(found -> found.group())
                        .toList());
    }

    @Test
    void theStepsAreNumberedInOrder() {
        List<String> numbers = steps(drawing(), 1);
        assertThat(numbers).hasSizeBetween(10, STEPS_MAX);
        assertThat(numbers)
                .isEqualTo(IntStream.rangeClosed(1, numbers.size())
                        .mapToObj(Integer::toString)
                        .toList());
    }

    private static List<String> steps(String drawing, int group) {
        return STEP.matcher(drawing).results().map(step -> step.group(group)).toList();
    }

    private static String drawing() {
        Matcher drawing = Pattern.compile("(?s)<pre>(.*?)</pre>").matcher(Pages.text(PAGE));
        assertThat(drawing.find()).isTrue();
        return drawing.group(1);
    }
}
