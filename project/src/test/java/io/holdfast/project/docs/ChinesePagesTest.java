package io.holdfast.project.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The Chinese pages show no code that their English pages do not show; the build warns of pages that are older. */
class ChinesePagesTest {

    @TempDir
    Path docs;

    static List<Path> pages() {
        return Pages.all().stream().filter(page -> page.startsWith("docs/zh")).toList();
    }

    @ParameterizedTest
    @MethodSource("pages")
    void a_page_names_its_english_page_and_shows_only_its_code(Path file) throws IOException {
        ChinesePage page = ChinesePage.read(Pages.ROOT.resolve(file));
        page.older().ifPresent(warning -> System.out.println("WARNING: " + warning.replace(Pages.ROOT + "/", "")));
        assertThat(page.foreignCode())
                .as("code in %s that is not in %s", page.page(), page.english())
                .isEmpty();
    }

    @BeforeEach
    void an_english_page() throws IOException {
        Files.writeString(docs.resolve("lock.md"), """
                # Lock

                ```java
                // Waits.
                Lease lease = locks.acquire("redis://", ofSeconds(1)); // one second
                lease.close();
                ```
                """);
    }

    @Test
    void a_page_without_a_header_or_with_a_wrong_one_is_refused() throws IOException {
        for (String first : List.of("# 锁", "", "<!-- from: lock.md -->", "<!-- from: other.md 0123456789ab -->")) {
            Path page = write(first, "");
            assertThatThrownBy(() -> ChinesePage.read(page))
                    .as(first)
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining(page.toString());
        }
    }

    @Test
    void comments_and_blanks_may_differ_and_code_may_not() throws IOException {
        Path page = write("<!-- from: lock.md 0123456789ab -->", """
                ```java
                Lease lease = locks.acquire("redis://",
                    ofSeconds(1));   // 一秒
                ```
                ```java
                Lease lease = locks.acquire("redis://", ofSeconds(2));
                ```
                """);
        assertThat(ChinesePage.read(page).foreignCode())
                .singleElement()
                .asString()
                .contains("ofSeconds(2)");
    }

    /** The digits are those of {@code git hash-object}. */
    @Test
    void a_page_is_older_when_its_english_page_has_another_blob() throws IOException {
        Files.writeString(docs.resolve("lock.md"), "锁\n");
        assertThat(ChinesePage.read(write("<!-- from: lock.md 488fee606f96 -->", ""))
                        .older())
                .isEmpty();
        Files.writeString(docs.resolve("lock.md"), "锁。\n");
        assertThat(ChinesePage.read(write("<!-- from: lock.md 488fee606f96 -->", ""))
                        .older())
                .get()
                .asString()
                .contains("is older than", "git diff 488fee606f96", ".ci/zh-seen");
    }

    private Path write(String first, String rest) throws IOException {
        return Files.writeString(docs.resolve("zh.md"), first + "\n" + rest);
    }
}
