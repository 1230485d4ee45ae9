package io.holdfast.console.web;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/** A random text that nobody can guess. */
final class Secret {

    private static final int BYTES = 24;

    private final String text;

    Secret() {
        byte[] random = new byte[BYTES];
        new SecureRandom().nextBytes(random);
        text = Base64.getUrlEncoder().encodeToString(random);
    }

    String text() {
        return text;
    }

    /** Returns whether the texts are the same, in a time that does not tell how much of them is. */
    boolean is(@Nullable String other) {
        return other != null
                && MessageDigest.isEqual(text.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
    }
}
