package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The statements that docs/guard.md and docs/idempotent.md show are those that make the tables. */
class TablesOnPagesTest {

    @Test
    void the_pages_show_the_statements() throws IOException {
        assertThat(page("guard.md"))
                .contains(shown(new PostgresDialect().guardTable("holdfast_guard")))
                .contains(shown(new MySqlDialect().guardTable("holdfast_guard")));
        assertThat(page("idempotent.md")).contains(shown(new PostgresDialect().onceTable("holdfast_once")));
    }

    private static String page(String name) throws IOException {
        return withoutBlanks(Files.readString(Path.of("..", "docs", name)));
    }

    private static String shown(String statement) {
        return withoutBlanks(statement.replace("IF NOT EXISTS ", "") + ";");
    }

    private static String withoutBlanks(String text) {
        return text.replaceAll("\\s", "");
    }
}
