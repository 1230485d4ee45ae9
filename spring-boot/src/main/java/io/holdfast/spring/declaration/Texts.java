package io.holdfast.spring.declaration;

import java.util.Collection;
import org.jspecify.annotations.Nullable;

/** Decides which values have a text that is the same in every process. */
final class Texts {

    private Texts() {}

    /** Returns whether the text is that of {@code Object.toString()}, whose hash code differs between processes. */
    static boolean isIdentity(Object value) {
        return value.toString().equals(value.getClass().getName() + "@" + Integer.toHexString(value.hashCode()));
    }

    /** Returns the value, or the element of a collection in any depth, that has such a text; null if none has. */
    static @Nullable Object findIdentity(@Nullable Object value) {
        if (value == null || isIdentity(value)) {
            return value;
        }
        if (value instanceof Collection<?> several) {
            for (Object each : several) {
                Object found = findIdentity(each);
                if (found != null) {
                    return found;
                }
            }
        }
        return null;
    }
}
