package io.holdfast.sql;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** The files for Flyway and Liquibase do what the script of the store does. */
class MigrationsTest {

    /** Repeatable: a version would meet a version of the application. Boot replaces {@code {vendor}} in a location. */
    @ParameterizedTest
    @EnumSource
    void flywayHasTheScript(SqlSettings.Kind kind) throws IOException {
        String script = text(kind.script());
        assertThat(text("flyway/" + kind.script().replace(".sql", "") + "/R__holdfast.sql"))
                .isEqualTo(script);
        // What is repeated leaves alone what is there.
        assertThat(script.split("CREATE TABLE", -1)).hasSameSizeAs(script.split("CREATE TABLE IF NOT EXISTS", -1));
    }

    @Test
    void liquibaseHasTheScriptOfEachDatabase() throws Exception {
        NodeList sets;
        try (InputStream file = SqlSchema.class.getResourceAsStream("liquibase.xml")) {
            sets = DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(file)
                    .getElementsByTagName("changeSet");
        }
        assertThat(sets.getLength()).isPositive();
        StringBuilder scripts = new StringBuilder();
        for (int i = 0; i < sets.getLength(); i++) {
            Element set = (Element) sets.item(i);
            Element script = (Element) set.getElementsByTagName("sqlFile").item(0);
            assertThat(text(script.getAttribute("path"))).isNotEmpty();
            scripts.append(script.getAttribute("path")).append('\n');
        }
        assertThat(scripts.toString().lines())
                .containsAll(Stream.of(SqlSettings.Kind.values())
                        .map(SqlSettings.Kind::script)
                        .toList());
    }

    private static String text(String name) throws IOException {
        try (InputStream file = SqlSchema.class.getResourceAsStream(name)) {
            return new String(requireNonNull(file, name).readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
