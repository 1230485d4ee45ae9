package io.holdfast.sql;

import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What a caller tells the driver beside the URL. Asked for each connection, because a password may change. */
final class DriverProperties {

    private final Map<String, Supplier<@Nullable String>> values;

    /** The passwords that were given to a driver, so that no message shows them. */
    private final Set<String> secrets = ConcurrentHashMap.newKeySet();

    DriverProperties(Map<String, Supplier<@Nullable String>> values) {
        this.values = Map.copyOf(values);
    }

    static DriverProperties none() {
        return new DriverProperties(new HashMap<>());
    }

    /** Sets the values of now. A property without a value is left out. */
    void addTo(Properties properties) {
        values.forEach((name, supplier) -> {
            String value = supplier.get();
            if (value != null) {
                properties.setProperty(name, value);
                if (SqlSettings.isSecret(name) && !value.isEmpty()) {
                    secrets.add(value);
                }
            }
        });
    }

    String hidden(String text) {
        String hidden = text;
        for (String secret : secrets) {
            hidden = hidden.replace(secret, "***");
        }
        return hidden;
    }

    /** Returns the names. */
    @Override
    public String toString() {
        return values.keySet().toString();
    }
}
