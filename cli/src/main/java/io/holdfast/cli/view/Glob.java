package io.holdfast.cli.view;

import java.util.function.Predicate;
import java.util.regex.Pattern;

/** Matches patterns as a shell does: {@code *} stands for any text, {@code ?} for one character. */
public final class Glob {

    private Glob() {}

    /** Returns whether a name fits the pattern as a whole. */
    public static Predicate<String> of(String pattern) {
        StringBuilder regex = new StringBuilder();
        pattern.codePoints().forEach(c -> {
            switch (c) {
                case '*' -> regex.append(".*");
                case '?' -> regex.append('.');
                default -> regex.append(Pattern.quote(Character.toString(c)));
            }
        });
        return Pattern.compile(regex.toString(), Pattern.DOTALL).asMatchPredicate();
    }
}
