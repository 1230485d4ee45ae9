package io.holdfast.project.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The code of pages that show a program is code of that program, which is compiled and tested. Blanks do not count. */
class PageCodeTest {

    private static final Pattern CODE = Pattern.compile("(?ms)^```(?:java|sql)$(.*?)^```$");

    /**
     * Compares a page with the Java files below a folder.
     *
     * @param only a text that marks the blocks to compare; empty to compare all
     * @param blocks the number of the marked blocks
     */
    @ParameterizedTest
    @CsvSource({
        "docs/recipes.md, samples/recipes/src/main, '', 23",
        "docs/micronaut.md, samples/micronaut/src/main, '', 4",
        "docs/a-store-of-your-own.md, samples/folder-store/src, 'class ', 2"
    })
    void theCodeOfAPageIsThatOfItsProgram(Path page, Path folder, String only, int blocks) {
        String program = Pages.files(".java").stream()
                .filter(file -> file.startsWith(folder))
                .map(file -> withoutBlanks(Pages.text(file)))
                .collect(Collectors.joining("\n"));
        List<String> shown = CODE.matcher(Pages.text(page))
                .results()
                .map(block -> block.group(1))
                .filter(code -> code.contains(only))
                .toList();
        assertThat(shown).hasSize(blocks);
        // A page may leave out the rest of a class.
        assertThat(shown).allSatisfy(code -> assertThat(program).contains(withoutBlanks(code.split("…", -1)[0])));
    }

    private static String withoutBlanks(String text) {
        return text.replaceAll("\\s", "");
    }
}
