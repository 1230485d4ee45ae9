package io.holdfast.cdi;

import io.holdfast.LeadershipOptions;
import io.holdfast.LockClient;
import io.holdfast.LockListener;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.eclipse.microprofile.config.ConfigProvider;

/**
 * The settings {@code holdfast.*}: of MicroProfile Config where there is one, otherwise system properties and
 * environment variables.
 */
final class Settings {

    private static final Pattern AMOUNT = Pattern.compile("(\\d{1,12})\\s*(ms|s|m|h|d)");
    private static final Duration WAIT_TIME = Duration.ofSeconds(10);

    private static final boolean MICRO_PROFILE = isPresent("org.eclipse.microprofile.config.ConfigProvider");

    private Settings() {}

    static boolean isPresent(String type) {
        try {
            Class.forName(type, false, Settings.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException | LinkageError e) {
            return false;
        }
    }

    static Optional<String> find(String name) {
        Optional<String> text = MICRO_PROFILE
                ? MicroProfile.find(name)
                : Optional.ofNullable(System.getProperty(name))
                        .or(() -> Optional.ofNullable(
                                System.getenv(name.toUpperCase(Locale.ROOT).replaceAll("[^A-Z0-9]", "_"))));
        return text.map(String::strip).filter(each -> !each.isEmpty());
    }

    /** Returns the wait time of methods without one of their own; empty for no limit. */
    static Optional<Duration> waitTime() {
        return find("holdfast.wait-time").filter("unlimited"::equals).isPresent()
                ? Optional.empty()
                : Optional.of(time("holdfast.wait-time").orElse(WAIT_TIME));
    }

    /** Opens the client of these settings. */
    static LockClient open(Optional<LockListener> listener) {
        String store = find("holdfast.store")
                .orElseThrow(
                        () -> new IllegalStateException("holdfast.store is not set, and there is no LockClient bean"
                                + " (expected: a URI, for example redis://localhost:6379, or memory:tests in tests)"));
        LockClient.Builder builder = LockClient.builder().uri(store);
        time("holdfast.lease-time").ifPresent(builder::leaseTime);
        time("holdfast.store-timeout").ifPresent(builder::storeTimeout);
        find("holdfast.client-name").ifPresent(builder::clientName);
        listener.ifPresent(builder::listener);
        if (find("holdfast.startup").filter("lazy"::equals).isPresent()) {
            builder.lazy();
        }
        return builder.build();
    }

    static LeadershipOptions leadership() {
        return time("holdfast.leader.stop-within")
                .map(LeadershipOptions.defaults()::stopWithin)
                .orElseGet(LeadershipOptions::defaults);
    }

    static Optional<Duration> time(String name) {
        try {
            return duration(find(name).orElse(""));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(name + ": " + e.getMessage(), e);
        }
    }

    /**
     * Returns the duration that a text means; empty for a blank text.
     *
     * @throws IllegalArgumentException if it means none
     */
    static Optional<Duration> duration(String text) {
        String stripped = text.strip();
        if (stripped.isEmpty()) {
            return Optional.empty();
        }
        Matcher amount = AMOUNT.matcher(stripped);
        if (amount.matches()) {
            long number = Long.parseLong(amount.group(1));
            return Optional.of(
                    switch (amount.group(2)) {
                        case "ms" -> Duration.ofMillis(number);
                        case "s" -> Duration.ofSeconds(number);
                        case "m" -> Duration.ofMinutes(number);
                        case "h" -> Duration.ofHours(number);
                        default -> Duration.ofDays(number);
                    });
        }
        try {
            Duration parsed = stripped.matches("0+") ? Duration.ZERO : Duration.parse(stripped);
            if (!parsed.isNegative()) {
                return Optional.of(parsed);
            }
        } catch (DateTimeParseException e) {
            // Refused below.
        }
        throw new IllegalArgumentException(
                "\"" + stripped + "\" (expected: a number with its unit, for example 500ms, 10s or 5m)");
    }

    /** Loaded only where MicroProfile Config is. */
    private static final class MicroProfile {

        private MicroProfile() {}

        static Optional<String> find(String name) {
            return ConfigProvider.getConfig().getOptionalValue(name, String.class);
        }
    }
}
