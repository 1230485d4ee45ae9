package io.holdfast.project.docs;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A Chinese page and the English page that it says the same as. Its first line names the English page and the Git blob
 * of that page at the time: {@code <!-- from: ../spring.md 0123456789ab -->}.
 *
 * @param page the Chinese page
 * @param english the English page
 * @param seen the first digits of the English page's blob when the Chinese page was last brought up to date
 */
record ChinesePage(Path page, Path english, String seen) {

    private static final Pattern HEADER = Pattern.compile("<!-- from: (\\S+\\.md) ([0-9a-f]{12}) -->");

    /** Reads the header. An {@link AssertionError} says what is wrong with it. */
    static ChinesePage read(Path page) throws IOException {
        String first = Files.readString(page).lines().findFirst().orElse("");
        Matcher header = HEADER.matcher(first);
        if (!header.matches()) {
            throw new AssertionError(page + " does not begin with its English page and 12 digits of that page's blob"
                    + " (expected: <!-- from: ../spring.md 0123456789ab -->): " + first);
        }
        Path english = page.resolveSibling(header.group(1)).normalize();
        if (!Files.isRegularFile(english)) {
            throw new AssertionError(page + " names an English page that does not exist: " + english);
        }
        return new ChinesePage(page, english, header.group(2));
    }

    /** Returns what to do if the English page has changed since. */
    Optional<String> older() throws IOException {
        if (blob(Files.readAllBytes(english)).startsWith(seen)) {
            return Optional.empty();
        }
        return Optional.of(page + " is older than " + english + ": see \"git diff " + seen + " " + english
                + "\", bring the page up to date, then run \".ci/zh-seen " + page + "\".");
    }

    /** Returns the code blocks that the English page does not contain; comments and blanks do not count. */
    List<String> foreignCode() throws IOException {
        List<String> known = CodeBlock.of(Files.readString(english)).stream()
                .map(CodeBlock::code)
                .toList();
        return CodeBlock.of(Files.readString(page)).stream()
                .filter(block -> known.stream().noneMatch(code -> code.contains(block.code())))
                .map(CodeBlock::text)
                .toList();
    }

    private static String blob(byte[] content) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-1");
            digest.update(("blob " + content.length + "\0").getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest.digest(content));
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }
}
