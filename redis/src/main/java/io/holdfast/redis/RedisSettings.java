package io.holdfast.redis;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a store's URI says.
 *
 * @param host a name or an address, the latter without brackets
 * @param user the ACL user; null for the default one
 * @param password null for none
 * @param ca a PEM file with the certificates to trust; null for those of the JVM
 */
record RedisSettings(
        boolean tls,
        String host,
        int port,
        int database,
        @Nullable String user,
        @Nullable String password,
        Duration timeout,
        String clientName,
        String prefix,
        @Nullable Path ca) {

    private record Login(@Nullable String user, @Nullable String password) {}

    private static final List<String> OPTIONS = List.of("timeout", "clientName", "prefix", "ca");
    private static final String EXAMPLE = "redis://user:password@host:6379/0";
    private static final Pattern HOST =
            Pattern.compile("[\\w.-]+|\\[[0-9a-fA-F:.%]+\\]", Pattern.UNICODE_CHARACTER_CLASS);
    private static final Pattern DURATION = Pattern.compile("(\\d{1,9})(ms|s)");

    /**
     * Reads a URI.
     *
     * @throws IllegalArgumentException naming the part that is wrong, never with the password
     */
    static RedisSettings parse(URI uri) {
        String authority = uri.getRawAuthority();
        if (uri.isOpaque() || authority == null) {
            throw wrong("host: missing", "for example " + EXAMPLE);
        }
        // The parts that Java's parser makes of host and port fail on names with an underscore; so by hand.
        int at = authority.lastIndexOf('@');
        refuseMisplacedSecret(uri, at);
        Login login = login(at < 0 ? null : authority.substring(0, at));
        String address = authority.substring(at + 1);
        int colon = address.lastIndexOf(':');
        if (address.endsWith("]")) {
            colon = -1;
        }
        String host = colon < 0 ? address : address.substring(0, colon);
        if (host.isEmpty()) {
            throw wrong("host: missing", "for example " + EXAMPLE);
        }
        if (!HOST.matcher(host).matches()) {
            throw wrong("host: \"" + host + "\"", "one host name or address; an IPv6 address in [ ]");
        }
        if (host.startsWith("[")) {
            host = host.substring(1, host.length() - 1);
        }
        boolean tls = "rediss".equals(uri.getScheme().toLowerCase(Locale.ROOT));
        Map<String, String> options = options(uri.getRawQuery());
        return new RedisSettings(
                tls,
                host,
                colon < 0 ? 6379 : port(address.substring(colon + 1)),
                database(uri.getRawPath()),
                login.user(),
                login.password(),
                timeout(options.getOrDefault("timeout", "3s")),
                clientName(options.getOrDefault("clientName", "holdfast")),
                prefix(options.getOrDefault("prefix", "holdfast")),
                ca(options.get("ca"), tls));
    }

    /** The URI without login and options. */
    String describe() {
        String address = host.indexOf(':') < 0 ? host : "[" + host + "]";
        return (tls ? "rediss://" : "redis://") + address + ":" + port + "/" + database;
    }

    /** How often each connection is used at least, so that a dead one is noticed. */
    Duration heartbeat() {
        return Duration.ofMillis(Math.max(1_000, Math.min(5_000, timeout.toMillis())));
    }

    /** A record would print the password. */
    @Override
    public String toString() {
        return describe();
    }

    /**
     * A bare {@code / ? #} in a password ends the authority, and what follows would be taken for path, query or fragment:
     * caught here, before a message shows any of it.
     */
    private static void refuseMisplacedSecret(URI uri, int at) {
        String rest = uri.getRawPath() + uri.getRawQuery() + uri.getRawFragment();
        if (at < 0 && rest.contains("@")) {
            throw wrong(
                    "an @ after the host",
                    "user and password before the host, with characters such as / # ? in them written %2F %23 %3F");
        }
        if (uri.getRawFragment() != null) {
            throw wrong("# after the host", "no fragment; a # in a password is written %23");
        }
    }

    private static Login login(@Nullable String userInfo) {
        if (userInfo == null || userInfo.isEmpty()) {
            return new Login(null, null);
        }
        int colon = userInfo.indexOf(':');
        String user = colon <= 0 ? null : decode(userInfo.substring(0, colon), "user");
        String password = decode(userInfo.substring(colon + 1), "password");
        if (password.isEmpty()) {
            throw wrong("password: empty", "user:password@, or :password@ for the default user");
        }
        return new Login(user, password);
    }

    private static int port(String text) {
        if (!text.matches("\\d{1,5}") || Integer.parseInt(text) < 1 || Integer.parseInt(text) > 65_535) {
            throw wrong("port: \"" + text + "\"", "1 to 65535, for example " + EXAMPLE);
        }
        return Integer.parseInt(text);
    }

    private static int database(String path) {
        String text = path.startsWith("/") ? path.substring(1) : path;
        if (!text.matches("\\d{0,6}")) {
            throw wrong("database: \"" + text + "\"", "a number, for example " + EXAMPLE);
        }
        return text.isEmpty() ? 0 : Integer.parseInt(text);
    }

    private static Map<String, String> options(@Nullable String query) {
        Map<String, String> options = new LinkedHashMap<>();
        if (query == null || query.isEmpty()) {
            return options;
        }
        for (String pair : query.split("&", -1)) {
            int equals = pair.indexOf('=');
            String name = decode(equals < 0 ? pair : pair.substring(0, equals), "option");
            if (!OPTIONS.contains(name)) {
                throw wrong("option: \"" + name + "\"", "one of " + String.join(", ", OPTIONS));
            }
            String value = equals < 0 ? "" : decode(pair.substring(equals + 1), name);
            if (options.put(name, value) != null) {
                throw wrong("option: \"" + name + "\" twice", "once");
            }
        }
        return options;
    }

    private static Duration timeout(String text) {
        Matcher matcher = DURATION.matcher(text);
        if (matcher.matches()) {
            long amount = Long.parseLong(matcher.group(1));
            long millis = matcher.group(2).equals("s") ? amount * 1000 : amount;
            if (millis >= 10 && millis <= 60_000) {
                return Duration.ofMillis(millis);
            }
        }
        throw wrong("timeout: \"" + text + "\"", "10ms to 60s, for example 500ms or 2s");
    }

    private static String clientName(String text) {
        if (!text.matches("[!-~]{1,64}")) {
            throw wrong("clientName: \"" + text + "\"", "1 to 64 ASCII characters without spaces");
        }
        return text;
    }

    /** Without braces: the tag that puts the keys of a lock into one cluster slot follows it. */
    private static String prefix(String text) {
        if (!text.matches("[!-~&&[^{}]]{1,64}")) {
            throw wrong("prefix: \"" + text + "\"", "1 to 64 ASCII characters without spaces and braces");
        }
        return text;
    }

    private static @Nullable Path ca(@Nullable String text, boolean tls) {
        if (text == null) {
            return null;
        }
        if (!tls) {
            throw wrong("ca: \"" + text + "\"", "only with rediss://");
        }
        try {
            Path file = Path.of(text);
            if (Files.isReadable(file)) {
                return file;
            }
        } catch (InvalidPathException e) {
            // Answered below.
        }
        throw wrong("ca: \"" + text + "\"", "a PEM file that can be read");
    }

    private static String decode(String raw, String what) {
        try {
            return PercentEncoding.decode(raw);
        } catch (IllegalArgumentException e) {
            // The raw text may be the password: not shown.
            throw wrong(what + ": malformed percent-encoding", "% and two hexadecimal digits; % itself is %25");
        }
    }

    private static IllegalArgumentException wrong(String found, String expected) {
        return new IllegalArgumentException("redis URI, " + found + " (expected: " + expected + ")");
    }
}
