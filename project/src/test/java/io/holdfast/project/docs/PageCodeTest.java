package io.holdfast.project.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The Java and SQL of each page is a part of a test or of a sample, so it is compiled; the exceptions are listed. Blanks
 * and comments do not count, and a page may leave out code where it has "…". {@link ChinesePagesTest} compares the
 * Chinese pages with the English ones.
 */
class PageCodeTest {

    private static final List<String> SOURCES = Pages.files(".java").stream()
            .filter(file -> file.startsWith("samples") || file.toString().contains("src/test/"))
            .map(file -> new CodeBlock("java", Pages.text(file)).code())
            .toList();

    private static final String PROGRAM = "FirstScreensTest of samples/recipes compiles and runs it";
    private static final String TABLE = "TablesOnPagesTest of jdbc compares it with the sources";

    /** A block that is no part of a test or a sample. */
    private record Exempt(String page, String part, String why) {}

    private static final List<Exempt> EXEMPT = List.of(
            new Exempt("README.md", "class TwoClients {", PROGRAM),
            new Exempt("docs/benchmarks.md", "class HandOffs {", PROGRAM),
            new Exempt("docs/seeing-locks.md", "class WhoHasIt {", PROGRAM),
            new Exempt("docs/stores/zookeeper.md", "class Refund {", PROGRAM),
            new Exempt("docs/guard.md", "lock_key VARCHAR(64) COLLATE", TABLE),
            new Exempt("docs/guard.md", "lock_key VARCHAR(64) CHARACTER SET", TABLE),
            new Exempt("docs/idempotent.md", "CREATE TABLE holdfast_once", TABLE),
            new Exempt("docs/spring.md", "@DistributeLocked(", "an annotation that is not Holdfast's"),
            new Exempt("docs/stores/sql.md", "db.example", "a database that nobody has"));

    static List<Path> pages() {
        return Pages.all().stream().filter(page -> !page.startsWith("docs/zh")).toList();
    }

    @ParameterizedTest
    @MethodSource("pages")
    void theCodeOfAPageIsCompiled(Path page) {
        List<CodeBlock> rest = CodeBlock.of(Pages.text(page)).stream()
                .filter(block ->
                        block.language().equals("java") || block.language().equals("sql"))
                .filter(block -> !isCompiled(block))
                .toList();
        List<String> exempt = EXEMPT.stream()
                .filter(row -> row.page().equals(page.toString()))
                .map(Exempt::part)
                .toList();
        assertThat(rest)
                .zipSatisfy(exempt, (block, part) -> assertThat(block.text()).contains(part));
    }

    private static boolean isCompiled(CodeBlock block) {
        Pattern code = Pattern.compile(
                Arrays.stream(block.code().split("…", -1)).map(Pattern::quote).collect(Collectors.joining(".*?")));
        return SOURCES.stream().anyMatch(source -> code.matcher(source).find());
    }
}
