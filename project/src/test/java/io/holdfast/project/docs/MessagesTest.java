package io.holdfast.project.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The messages and log lines that pages explain are those of the sources. */
class MessagesTest {

    /** The first cell of a row that begins with a message. */
    private static final Pattern CELL = Pattern.compile("(?m)^\\| (`[^|]*`[^|]*) \\|");

    private static final Pattern CODE = Pattern.compile("`([^`]+)`");

    /** What differs from one message to the next: a gap, a name in quotes, a number. */
    private static final Pattern VARIABLE = Pattern.compile("(redis://)?…|\"[xy]\"|\"main\"|\\d+( s| min)?");

    /** Literals that are joined, and the quotes inside of them. */
    private static final String SOURCES = Pages.files(".java").stream()
            .filter(file -> file.toString().contains("src/main/"))
            .map(Pages::text)
            .map(text -> text.replaceAll("\"\\s*\\+\\s*\"", "").replace("\\\"", "\""))
            .collect(Collectors.joining("\n"));

    @ParameterizedTest
    @CsvSource({"docs/errors.md, 60", "docs/logging.md, 25"})
    void messagesAreOfTheSources(String page, int atLeast) {
        List<String> messages = messages(Path.of(page));
        assertThat(messages).hasSizeGreaterThan(atLeast);
        assertThat(messages.stream().filter(message -> !isOfTheSources(message)))
                .as("messages that no source has")
                .isEmpty();
    }

    private static List<String> messages(Path page) {
        List<String> messages = new ArrayList<>();
        Matcher cells = CELL.matcher(Pages.text(page));
        while (cells.find()) {
            CODE.matcher(cells.group(1))
                    .results()
                    .map(found -> found.group(1))
                    .filter(text -> text.contains(" "))
                    .forEach(messages::add);
        }
        return messages;
    }

    private static boolean isOfTheSources(String message) {
        List<String> parts = Arrays.stream(VARIABLE.split(message))
                .map(part -> part.replaceAll("^[\\s\":,()]+|[\\s\":,()]+$", ""))
                .filter(part -> part.length() > 2)
                .toList();
        return !parts.isEmpty() && parts.stream().allMatch(SOURCES::contains);
    }

    @Test
    void anInventedMessageIsFound() {
        assertThat(isOfTheSources("The lock \"…\" is held by …")).isTrue();
        assertThat(isOfTheSources("The lock \"…\" is owned by …")).isFalse();
    }
}
