package io.holdfast.spring.declaration;

import java.util.Collection;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Decides which values have a text that is the same in every process. */
final class Texts {

    private Texts() {}

    /** Returns whether the text is that of {@code Object.toString()}, whose hash code differs between processes. */
    static boolean isIdentity(Object value) {
        return value.toString().equals(value.getClass().getName() + "@" + Integer.toHexString(value.hashCode()));
    }

    /**
     * Returns why the text of a value differs between processes; null if nothing shows that. Looks into collections, in
     * any depth.
     */
    static @Nullable String whyUnstable(@Nullable Object value) {
        if (value == null) {
            return null;
        }
        if (isIdentity(value)) {
            return "is a " + value.getClass().getName() + ", which has no toString() of its own";
        }
        if (hasRandomOrder(value)) {
            return "is a " + (value instanceof Map ? "map" : "set")
                    + " in no order, so its text differs between processes";
        }
        Collection<?> several = value instanceof Map<?, ?> map
                ? map.entrySet().stream()
                        .flatMap(entry -> Stream.of(entry.getKey(), entry.getValue()))
                        .filter(Objects::nonNull)
                        .toList()
                : value instanceof Collection<?> elements ? elements : List.of();
        return several.stream()
                .map(Texts::whyUnstable)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /** Returns whether equal sets, or maps, may have another order in another process, as those of {@code Set.of} do. */
    private static boolean hasRandomOrder(Object value) {
        return value instanceof Set<?> set
                ? set.size() > 1
                        && !(set instanceof SortedSet || set instanceof LinkedHashSet || set instanceof EnumSet)
                : value instanceof Map<?, ?> map
                        && map.size() > 1
                        && !(map instanceof SortedMap || map instanceof LinkedHashMap || map instanceof EnumMap);
    }
}
