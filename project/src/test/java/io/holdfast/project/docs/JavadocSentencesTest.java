package io.holdfast.project.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The first sentence of what is published says what a method does, in the third person, or what a type is, in at most 30
 * words.
 */
class JavadocSentencesTest {

    /** A Javadoc comment, annotations, and the declaration up to what ends its first part. */
    private static final Pattern DOCUMENTED = Pattern.compile(
            "/\\*\\*(?>(.+?)\\*/)(?:\\s*@\\w+(?:\\([^)]*\\))?)*\\s*([^;{(=*]*)([;{(=])", Pattern.DOTALL);

    /** A comment up to the end of its first sentence: a tag of a link may have a period of its own. */
    private static final Pattern FIRST =
            Pattern.compile("(?:\\{@[^}]*}|(?!\\.\\s|\\s@|<p>|<pre>|<ul>|<table>).)*", Pattern.DOTALL);

    private static final int WORDS_MAX = 30;

    private static final Pattern TYPE = Pattern.compile("(?:\\b|@)(?:class|interface|enum|record)\\s");

    private static final Pattern PUBLIC = Pattern.compile("\\b(?:public|protected|default)\\s");
    private static final Pattern INTERFACE = Pattern.compile("(?m)^public (?:sealed |non-sealed )?interface ");
    private static final Pattern VERB =
            Pattern.compile("(?:[A-Z][a-z]+s|Called|As|Like|\\{@\\w+)\\b.*", Pattern.DOTALL);
    private static final Pattern QUESTION =
            Pattern.compile("(?:What|Which|Who|Whether|How|Where|When|Why)\\b.*", Pattern.DOTALL);

    @Test
    void methodsDoAndTypesAre() {
        List<String> texts = JavadocExamplesTest.published();
        assertThat(texts.stream().flatMap(JavadocSentencesTest::documented)).hasSizeGreaterThan(500);
        assertThat(texts.stream().flatMap(JavadocSentencesTest::others)).isEmpty();
    }

    @Test
    void othersAreFound() {
        assertThat(others("/** How locks are kept. */\npublic enum Mode {"))
                .containsExactly("public enum Mode: How locks are kept.");
        String part = "/** A part. */\npublic interface Part {\n";
        assertThat(others(part + "/**\n * Another client waits.\n */\n@A(1)\nvoid waits(String name);"))
                .containsExactly("void waits: Another client waits.");
        String mode = "/** A mode. */\npublic enum Mode {\n/** By scripts. */\nLUA,\n";
        assertThat(others(mode + "/** {@inheritDoc} */ public int a(); /** Returns it. */ public int b() {}"))
                .isEmpty();
        String words = "/** Returns" + " it".repeat(29);
        assertThat(others(mode + words + ". And more. */ public int a();")).isEmpty();
        assertThat(others(mode + words + " too. */ public int a();")).hasSize(1);
        assertThat(others(mode + "/** The limit. */ public static int MAX = of(1); /** Own. */ private int c() {}"))
                .isEmpty();
    }

    private record Documented(String sentence, String declaration, boolean method) {

        /** Returns whether the sentence fits. A comment without one has tags only, as of a constructor's parameters. */
        boolean fits() {
            if (words() > WORDS_MAX) {
                return false;
            }
            if (TYPE.matcher(declaration + " ").find()) {
                return !QUESTION.matcher(sentence).matches();
            }
            return !method || sentence.startsWith("@") || VERB.matcher(sentence).matches();
        }

        private int words() {
            Matcher first = FIRST.matcher(sentence);
            // A link counts as one word.
            return first.lookingAt()
                    ? first.group().replaceAll("\\{@[^}]*}", "link").strip().split("\\s+").length
                    : 0;
        }
    }

    private static Stream<Documented> documented(String text) {
        boolean isInterface = INTERFACE.matcher(text).find();
        return DOCUMENTED
                .matcher(text)
                .results()
                .map(found -> new Documented(
                        found.group(1).replaceAll("\\s+(?:\\* ?)?", " ").strip(),
                        found.group(2).strip(),
                        found.group(3).equals("(")))
                .filter(each -> PUBLIC.matcher(each.declaration()).find() || isInterface);
    }

    private static Stream<String> others(String text) {
        return documented(text).filter(each -> !each.fits()).map(each -> each.declaration() + ": " + each.sentence());
    }
}
