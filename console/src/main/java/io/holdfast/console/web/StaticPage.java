package io.holdfast.console.web;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Objects;

/**
 * The file {@code page.html} and its policy: the browser runs the file's own script, applies its own style, and talks
 * to nobody but the server that the page comes from.
 */
final class StaticPage {

    private final String html;
    private final String policy;

    StaticPage() {
        try (InputStream in = StaticPage.class.getResourceAsStream("page.html")) {
            html = new String(Objects.requireNonNull(in, "page.html").readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        policy = "default-src 'none'; script-src " + hash("script") + "; style-src " + hash("style")
                + "; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    }

    String html() {
        return html;
    }

    /** Returns the value of the header {@code Content-Security-Policy}. */
    String policy() {
        return policy;
    }

    private String hash(String tag) {
        String begin = "<" + tag + ">";
        String text = html.substring(html.indexOf(begin) + begin.length(), html.indexOf("</" + tag + ">"));
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return "'sha256-" + Base64.getEncoder().encodeToString(digest) + "'";
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Each Java has SHA-256", e);
        }
    }
}
