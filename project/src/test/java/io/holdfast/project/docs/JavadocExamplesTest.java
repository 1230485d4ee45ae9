package io.holdfast.project.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** A reader of a public type's Javadoc finds an example there, or a link to a page that has one. */
class JavadocExamplesTest {

    private static final Pattern EXPORTS = Pattern.compile("(?m)^ *exports ([a-z.]+);");
    private static final Pattern NAMED = Pattern.compile("io\\.holdfast\\.[a-z.]+");
    private static final Pattern PACKAGE = Pattern.compile("(?m)^package ([a-z.]+);");
    private static final Pattern PUBLIC_TYPE =
            Pattern.compile("(?m)^public (?:\\w+ |non-sealed )*(?:class|interface|enum|record|@interface) (\\w+)");
    private static final Pattern EXAMPLE = Pattern.compile("<pre>|/blob/main/docs/");
    private static final Pattern LINK = Pattern.compile("/blob/main/([^\"#]+)#?([^\"]*)\">");

    private static final List<String> SOURCES = Pages.files(".java").stream()
            .filter(file -> file.toString().contains("src/main/java/"))
            .map(Pages::text)
            .toList();

    @Test
    void everyPublicTypeHasAnExampleOrALinkToOne() {
        List<String> types = published();
        assertThat(types).hasSizeGreaterThan(100);
        assertThat(types.stream().filter(text -> !hasExample(text)).map(JavadocExamplesTest::name))
                .isEmpty();
    }

    @Test
    void linksToPagesLeadSomewhere() {
        List<MatchResult> links =
                SOURCES.stream().flatMap(text -> LINK.matcher(text).results()).toList();
        assertThat(links).hasSizeGreaterThan(10);
        for (MatchResult link : links) {
            Path page = Path.of(link.group(1));
            assertThat(Pages.ROOT.resolve(page)).exists();
            if (!link.group(2).isEmpty()) {
                assertThat(Pages.anchors(page)).contains(link.group(2));
            }
        }
    }

    @Test
    void aTypeWithoutOneIsFound() {
        assertThat(hasExample("/** A. */\npublic final class A {\n/** <pre>x</pre> */ int b;"))
                .isFalse();
        assertThat(hasExample("/** A. <pre>x</pre> */\n@Deprecated\npublic final class A {"))
                .isTrue();
    }

    /** Returns the texts of the public types in packages that users can import. */
    static List<String> published() {
        Set<String> packages = SOURCES.stream()
                .flatMap(text -> EXPORTS.matcher(text).results())
                .map(found -> found.group(1))
                .collect(Collectors.toSet());
        // The script that writes the Javadoc names those of the jars without a descriptor.
        NAMED.matcher(Pages.text(Path.of(".ci/javadoc"))).results().forEach(found -> packages.add(found.group()));
        return SOURCES.stream()
                .filter(text ->
                        isIn(packages, text) && PUBLIC_TYPE.matcher(text).find())
                .toList();
    }

    private static boolean isIn(Set<String> packages, String text) {
        Matcher found = PACKAGE.matcher(text);
        return found.find() && packages.contains(found.group(1));
    }

    private static boolean hasExample(String text) {
        Matcher type = PUBLIC_TYPE.matcher(text);
        return type.find() && EXAMPLE.matcher(text.substring(0, type.start())).find();
    }

    private static String name(String text) {
        Matcher type = PUBLIC_TYPE.matcher(text);
        Matcher in = PACKAGE.matcher(text);
        return type.find() && in.find() ? in.group(1) + "." + type.group(1) : text;
    }
}
