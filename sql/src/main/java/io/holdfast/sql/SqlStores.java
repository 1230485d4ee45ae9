package io.holdfast.sql;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Opens stores in a database that are configured in code, for a login that does not belong into a URL:
 *
 * <pre>{@code
 * LockClient locks = LockClient.builder()
 *     .store(SqlStores.url("jdbc:postgresql://db.example/app").user("app").password(secrets::current)::open)
 *     .build();
 * }</pre>
 *
 * @see SqlLockStoreProvider
 */
public final class SqlStores {

    private SqlStores() {}

    /**
     * Returns a builder for a database.
     *
     * @param url as for {@link SqlLockStoreProvider}, with or without a login
     * @throws IllegalArgumentException if no store is known for such a database
     */
    public static Builder url(String url) {
        if (!requireNonNull(url, "url").startsWith("jdbc:")) {
            throw new IllegalArgumentException(
                    "url: does not begin with jdbc: (expected: for example jdbc:postgresql://host/database)");
        }
        return new Builder(url);
    }

    /** The settings of a store. Not thread-safe; {@link #open} may be called more than once. */
    public static final class Builder {

        private final String url;
        private final SqlSettings.Kind kind;
        private final Map<String, Supplier<@Nullable String>> properties = new HashMap<>();
        private @Nullable Boolean createTable;

        private Builder(String url) {
            this.url = url;
            this.kind = SqlSettings.parse(url, DriverProperties.none()).kind();
        }

        /** Sets the user. */
        public Builder user(String user) {
            return property("user", user);
        }

        /**
         * Sets the password.
         *
         * @param password is asked for each new connection, from any thread, so the password may change; null for none
         */
        public Builder password(Supplier<@Nullable String> password) {
            properties.put("password", requireNonNull(password, "password"));
            return this;
        }

        /**
         * Sets a property of the driver, for example {@code sslmode}. Those in the URL go before.
         *
         * @throws IllegalArgumentException if the driver would send statements again by it, as for the URL
         */
        public Builder property(String name, String value) {
            requireNonNull(value, "value");
            SqlSettings.refuseResending(kind, requireNonNull(name, "name") + "=" + value);
            properties.put(name, () -> value);
            return this;
        }

        /** Sets whether the store makes its tables if they are missing. */
        public Builder createTable(boolean create) {
            this.createTable = create;
            return this;
        }

        /**
         * Opens the store. The client that uses it closes it.
         *
         * @throws io.holdfast.spi.StoreException if the database cannot be used; the message has the way out
         */
        public LockStore open(StoreContext context) {
            SqlSettings settings = SqlSettings.parse(url, new DriverProperties(properties));
            return SqlOpening.open(createTable == null ? settings : settings.creating(createTable), context);
        }
    }
}
