package io.holdfast.project.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What the pages refer to inside the project exists. Links to other sites are not followed. */
class LinksTest {

    private static final Pattern ABSOLUTE = Pattern.compile("[a-z][a-z0-9+.-]*:.*");
    private static final Pattern TEST_CLASS = Pattern.compile("`([A-Z]\\w*Test)(?:[#.]\\w+)?`");

    @Test
    void filesAndAnchors() {
        List<String> broken = new ArrayList<>();
        for (Path page : Pages.all()) {
            Pages.targets(page).stream()
                    .filter(target -> !ABSOLUTE.matcher(target).matches())
                    .filter(target -> !exists(page, target))
                    .forEach(target -> broken.add(page + " -> " + target));
        }
        assertThat(broken).as("links to nothing").isEmpty();
    }

    private static boolean exists(Path page, String target) {
        String[] parts = URLDecoder.decode(target, StandardCharsets.UTF_8).split("#", 2);
        Path folder = page.getParent() == null ? Path.of("") : page.getParent();
        Path file = parts[0].isEmpty() ? page : folder.resolve(parts[0]).normalize();
        if (file.startsWith("..") || !Files.exists(Pages.ROOT.resolve(file))) {
            return false;
        }
        return parts.length == 1 || Pages.anchors(file).contains(parts[1]);
    }

    @Test
    void testsThatPagesName() {
        Set<String> tests = Pages.files("Test.java").stream()
                .map(file -> file.getFileName().toString().replace(".java", ""))
                .collect(Collectors.toSet());
        List<String> missing = new ArrayList<>();
        for (Path page : Pages.all()) {
            TEST_CLASS
                    .matcher(Pages.text(page))
                    .results()
                    .map(found -> found.group(1))
                    .filter(name -> !tests.contains(name))
                    .forEach(name -> missing.add(page + " -> " + name));
        }
        assertThat(missing).as("tests that do not exist").isEmpty();
    }
}
