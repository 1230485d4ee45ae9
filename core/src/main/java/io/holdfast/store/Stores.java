package io.holdfast.store;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.ClassPathFailures;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.LockStoreProvider;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Opens stores: for a URI, by a function, or one that the caller made. */
public final class Stores {

    /** Schemes of our own modules, to tell a missing module from a mistyped scheme. */
    private static final Map<String, String> MODULES = Map.of(
            "redis", "holdfast-redis",
            "rediss", "holdfast-redis",
            "redis-sentinel", "holdfast-redis",
            "rediss-sentinel", "holdfast-redis",
            "redis-cluster", "holdfast-redis",
            "rediss-cluster", "holdfast-redis",
            "redlock", "holdfast-redis",
            "zookeeper", "holdfast-zookeeper",
            "jdbc", "holdfast-sql");

    /** What users look for among the options of a store's URI, and where it is set. */
    private static final Map<String, String> SETTINGS = Map.of(
            "leaseTime", "LockClient.builder().leaseTime(…), or holdfast.lease-time in Spring",
            "storeTimeout", "LockClient.builder().storeTimeout(…), or holdfast.store-timeout in Spring",
            "waitTime", "LockOptions.waitAtMost(…), or holdfast.wait-time in Spring");

    private Stores() {}

    /** Returns an opener that finds the module of a URI at each call. */
    public static Function<StoreContext, LockStore> opener(String uri) {
        return context -> open(uri, context);
    }

    private static LockStore open(String text, StoreContext context) {
        URI uri = parse(text);
        String scheme = uri.getScheme().toLowerCase(Locale.ROOT);
        if (MODULES.containsKey(scheme)) {
            refuseSettings(uri.getRawQuery());
        }
        TreeSet<String> known = new TreeSet<>();
        for (LockStoreProvider provider : ServiceLoader.load(LockStoreProvider.class, Stores.class.getClassLoader())) {
            known.addAll(provider.schemes());
            if (provider.schemes().contains(scheme)) {
                return open(c -> provider.open(uri, c), context, "a " + scheme + " store that could not be opened");
            }
        }
        String module = MODULES.get(scheme);
        if (module == null && uri.isOpaque()) {
            // The text before the colon may be a user's name, or worse.
            throw new IllegalArgumentException(
                    "store URI: has no scheme that is known, so redis:// or another is missing at its beginning"
                            + " (expected: one of " + known + ")");
        }
        throw new IllegalArgumentException(
                module != null
                        ? "store URI scheme: \"" + scheme + "\" needs the module io.holdfast:" + module
                                + ", which is not on the class path"
                        : "store URI scheme: \"" + scheme + "\" (expected: one of " + known + ")");
    }

    /** Refuses options of which none of our stores has any, with the place where each is set. */
    private static void refuseSettings(@Nullable String query) {
        for (String pair : query == null ? new String[0] : query.split("&", -1)) {
            String option = pair.split("=", 2)[0];
            String place = SETTINGS.get(option);
            if (place != null) {
                throw new IllegalArgumentException("store URI, option: \"" + option
                        + "\", which is no setting of the store (expected: " + place + ")");
            }
        }
    }

    /** Returns an opener that returns the store once: the client that has it closes it. */
    public static Function<StoreContext, LockStore> once(LockStore store) {
        requireNonNull(store, "store");
        AtomicBoolean used = new AtomicBoolean();
        return context -> {
            if (used.getAndSet(true)) {
                throw new IllegalStateException("The store " + store.describe()
                        + " was given to a client before (expected: a uri, or a function that opens a store for each"
                        + " client and each reopening)");
            }
            return store;
        };
    }

    public static LockStore open(Function<? super StoreContext, ? extends LockStore> opener, StoreContext context) {
        return open(opener, context, "a store that could not be opened");
    }

    private static LockStore open(
            Function<? super StoreContext, ? extends LockStore> opener, StoreContext context, String store) {
        try {
            return opener.apply(context);
        } catch (StoreException e) {
            throw StoreErrors.toUser(e, store);
        } catch (LinkageError e) {
            throw StoreErrors.toUser(requireNonNull(ClassPathFailures.find(e, "The store")), store);
        }
    }

    private static URI parse(String text) {
        try {
            URI uri = new URI(text.strip());
            if (uri.getScheme() == null) {
                throw noScheme();
            }
            return uri;
        } catch (URISyntaxException e) {
            if (!text.contains(":/")) {
                // Such as 127.0.0.1:6379: a scheme does not begin with a digit.
                throw noScheme();
            }
            // The message of the cause repeats the whole input with its password, so the cause is not kept.
            throw new IllegalArgumentException(
                    "store URI: " + scheme(text) + "*** is malformed at position " + e.getIndex()
                            + ": " + e.getReason()
                            + " (expected: for example redis://127.0.0.1:6379; characters such as # or / in a password"
                            + " are written %23 or %2F)");
        }
    }

    private static IllegalArgumentException noScheme() {
        return new IllegalArgumentException("store URI: has no scheme, so redis:// or another is missing at its"
                + " beginning (expected: for example redis://127.0.0.1:6379)");
    }

    /**
     * Returns the part of a malformed URI that a message may show: the scheme, if a store has it. A password may be
     * anywhere in the rest: the user may have forgotten the host, or the password may contain an @ or a /.
     */
    private static String scheme(String uri) {
        String start = uri.strip().toLowerCase(Locale.ROOT);
        for (String scheme : MODULES.keySet()) {
            if (start.startsWith(scheme + "://")) {
                return scheme + "://";
            }
        }
        return "";
    }
}
