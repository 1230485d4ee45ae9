package io.holdfast.project.docs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.text.ParseException;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.lucene.analysis.hunspell.Dictionary;
import org.apache.lucene.analysis.hunspell.Hunspell;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.junit.jupiter.api.Test;

/** The words of the English pages, outside of code, are those of a dictionary or of {@code words.txt}. */
class SpellingTest {

    private static final String DICTIONARY = "/META-INF/resources/webjars/typo-js/1.2.5/dictionaries/en_US/en_US";
    private static final Pattern WORD =
            Pattern.compile("(?<![\\p{L}\\p{N}_])[A-Za-z][A-Za-z'’]*[A-Za-z](?![\\p{L}\\p{N}_])");

    /** Names of classes and commands are no words. */
    private static final Pattern NAME = Pattern.compile(".\\p{L}*\\p{Lu}.*");

    @Test
    void wordsOfThePages() throws IOException, ParseException {
        Hunspell spelling = new Hunspell(dictionary());
        Set<String> own = ownWords();
        Map<String, Path> unknown = new TreeMap<>();
        for (Path page : Pages.all()) {
            if (page.startsWith("docs/zh")) {
                continue;
            }
            WORD.matcher(Pages.prose(page))
                    .results()
                    .map(found -> found.group().replace('’', '\'').replaceAll("'s$", ""))
                    .filter(word -> !NAME.matcher(word).matches() && !own.contains(word) && !spelling.spell(word))
                    .forEach(word -> unknown.putIfAbsent(word, page));
        }
        assertThat(unknown).as("misspelt, or missing in words.txt").isEmpty();
    }

    private static Dictionary dictionary() throws IOException, ParseException {
        try (InputStream affixes = open(DICTIONARY + ".aff");
                InputStream words = open(DICTIONARY + ".dic")) {
            return new Dictionary(new ByteBuffersDirectory(), "spelling", affixes, words);
        }
    }

    private static Set<String> ownWords() throws IOException {
        try (BufferedReader words = new BufferedReader(new InputStreamReader(open("words.txt"), UTF_8))) {
            return words.lines().collect(Collectors.toSet());
        }
    }

    private static InputStream open(String resource) {
        return Objects.requireNonNull(SpellingTest.class.getResourceAsStream(resource), resource);
    }
}
