package io.holdfast.spi;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The ability of a store to grant locks now, and the state of its parts, for health pages and people.
 *
 * <pre>{@code
 * return new StoreHealth(connected, Map.of("connected", connected));
 * }</pre>
 *
 * @param usable whether it can
 * @param details names in lower camel case with strings, numbers, booleans and lists of these, without secrets
 */
public record StoreHealth(boolean usable, Map<String, Object> details) {

    /** Copies the details, which keep their order. */
    public StoreHealth {
        details = Collections.unmodifiableMap(new LinkedHashMap<>(details));
    }
}
