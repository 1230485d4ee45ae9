package io.holdfast.redis.server;

import io.holdfast.redis.RedisMode;
import io.holdfast.redis.RedissonChannels;
import io.holdfast.redis.server.RedisSettings.Topology;
import io.lettuce.core.RedisURI;
import io.lettuce.core.StaticCredentialsProvider;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads a store's URI, and explains what is wrong with it without showing a password. Where the host is missing, or a
 * character is not escaped, a password looks like a host, port, database, option or master name. So a message quotes
 * only the values of known options that are not secret.
 */
public final class RedisUris {

    public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(3);
    public static final String DEFAULT_NAME_PREFIX = "lock:";
    public static final String DEFAULT_INTERNAL_PREFIX = "holdfast";
    public static final String DEFAULT_CLIENT_NAME = "holdfast";

    private record Login(@Nullable String user, @Nullable String password) {}

    /** @param name a host name or an address, the latter without brackets */
    private record Host(String name, int port) {}

    private static final int SERVER_PORT = 6379;
    private static final int SENTINEL_PORT = 26_379;
    private static final Map<Topology, String> EXAMPLES = Map.of(
            Topology.SERVER, "redis://user:password@host:6379/0",
            Topology.SENTINEL, "redis-sentinel://user:password@host1:26379,host2,host3/0#mymaster",
            Topology.CLUSTER, "redis-cluster://user:password@host1:6379,host2,host3");
    private static final Pattern HOST =
            Pattern.compile("[\\w.-]+|\\[[0-9a-fA-F:.%]+\\]", Pattern.UNICODE_CHARACTER_CLASS);
    private static final Pattern AT_IN_OPTION_NAME = Pattern.compile("(?:^|&)[^=&]*@");

    private final URI uri;
    private final Topology topology;
    private final boolean tls;

    private RedisUris(URI uri) {
        this.uri = uri;
        String scheme = uri.getScheme().toLowerCase(Locale.ROOT);
        this.tls = scheme.startsWith("rediss");
        String plain = tls ? scheme.replaceFirst("rediss", "redis") : scheme;
        for (Topology one : Topology.values()) {
            if (one.scheme.equals(plain)) {
                this.topology = one;
                return;
            }
        }
        throw wrong("scheme: \"" + scheme + "\"", "one of redis, redis-sentinel, redis-cluster, or with rediss");
    }

    /**
     * Reads a URI.
     *
     * @throws IllegalArgumentException naming the part that is wrong, never with the password
     */
    public static RedisSettings parse(URI uri) {
        return new RedisUris(uri).parse();
    }

    private RedisSettings parse() {
        String authority = uri.getRawAuthority();
        if (uri.isOpaque() || authority == null) {
            throw wrong("host: missing", "for example " + example());
        }
        // Not by Java's parser, which finds no host and port where a name contains an underscore.
        int at = authority.lastIndexOf('@');
        refuseMisplacedSecret(at);
        Login login = login(at < 0 ? null : authority.substring(0, at));
        // Java's parser takes no brackets in a list of hosts; so an IPv6 address there is written %5B::1%5D.
        List<Host> hosts = hosts(authority.substring(at + 1).replace("%5B", "[").replace("%5D", "]"));
        Map<String, String> options = options(uri.getRawQuery());
        Duration timeout = timeout(options.get("timeout"));
        String clientName = clientName(options.getOrDefault("clientName", DEFAULT_CLIENT_NAME));
        int database = database(uri.getRawPath());

        List<RedisURI> nodes = new ArrayList<>();
        if (topology == Topology.SENTINEL) {
            Login sentinelLogin = sentinelLogin(options);
            RedisURI.Builder sentinels = RedisURI.builder().withSentinelMasterId(masterName());
            hosts.forEach(host -> sentinels.withSentinel(node(host, sentinelLogin, timeout, 0, clientName)));
            RedisURI master = sentinels
                    .withSsl(tls)
                    .withDatabase(database)
                    .withTimeout(timeout)
                    .build();
            master.setClientName(clientName);
            authenticate(master, login);
            nodes.add(master);
        } else {
            hosts.forEach(host -> nodes.add(node(host, login, timeout, database, clientName)));
        }
        String namePrefix = checkNamePrefix(options.getOrDefault("namePrefix", DEFAULT_NAME_PREFIX));
        String internalPrefix = checkInternalPrefix(options.getOrDefault("internalPrefix", DEFAULT_INTERNAL_PREFIX));
        checkApart(namePrefix, internalPrefix);
        return new RedisSettings(
                topology,
                List.copyOf(nodes),
                timeout,
                timeout,
                namePrefix,
                internalPrefix,
                oneOf(RedisMode.values(), "mode", options.getOrDefault("mode", "auto")),
                replicas(options.getOrDefault("minReplicas", "0")),
                oneOf(RedissonChannels.values(), "redissonChannels", options.getOrDefault("redissonChannels", "both")),
                TlsFiles.of(options, tls),
                null,
                null,
                null,
                PASSWORD_ADVICE);
    }

    /** The advice where a password is missing. */
    private static final String PASSWORD_ADVICE = "put it into the URI: redis://:password@host, or user:password@host";

    private String example() {
        return String.valueOf(EXAMPLES.get(topology));
    }

    private List<Host> hosts(String addresses) {
        List<Host> hosts = new ArrayList<>();
        for (String address : topology == Topology.SERVER ? new String[] {addresses} : addresses.split(",", -1)) {
            hosts.add(host(address));
        }
        return hosts;
    }

    private Host host(String address) {
        int colon = address.endsWith("]") ? -1 : address.lastIndexOf(':');
        String name = colon < 0 ? address : address.substring(0, colon);
        if (name.isEmpty()) {
            throw wrong("host: missing", "for example " + example());
        }
        if (!HOST.matcher(name).matches()) {
            boolean several = topology == Topology.SERVER && name.indexOf(',') >= 0;
            throw wrong(
                    several ? "host: several" : "host: neither a name nor an address",
                    several
                            ? "one host name or address; several with redis-sentinel:// or redis-cluster://"
                            : "one host name or address; an IPv6 address in [ ]");
        }
        if (name.startsWith("[")) {
            name = name.substring(1, name.length() - 1);
        }
        int usual = topology == Topology.SENTINEL ? SENTINEL_PORT : SERVER_PORT;
        return new Host(name, colon < 0 ? usual : port(address.substring(colon + 1)));
    }

    private RedisURI node(Host host, Login login, Duration timeout, int database, String clientName) {
        RedisURI node = RedisURI.Builder.redis(host.name(), host.port())
                .withSsl(tls)
                .withDatabase(database)
                .withTimeout(timeout)
                .withClientName(clientName)
                .build();
        authenticate(node, login);
        return node;
    }

    private static void authenticate(RedisURI node, Login login) {
        String password = login.password();
        if (password != null) {
            node.setCredentialsProvider(new StaticCredentialsProvider(login.user(), password.toCharArray()));
        }
    }

    private static Login sentinelLogin(Map<String, String> options) {
        String user = options.get("sentinelUser");
        String password = options.get("sentinelPassword");
        if (user != null && password == null) {
            throw wrong("sentinelUser without sentinelPassword", "both, or the password alone");
        }
        return new Login(user, password);
    }

    private String masterName() {
        String fragment = uri.getRawFragment();
        if (fragment == null || fragment.isEmpty()) {
            throw wrong("master name: missing", "after # at the end, as in " + example());
        }
        String name = decode(fragment, "master name");
        if (!name.matches("[\\w.-]+")) {
            throw wrong(
                    "master name: not of letters, digits and . _ - alone",
                    "as in the Sentinels' configuration, at the end of the URI, after the options");
        }
        return name;
    }

    /**
     * Refuses a URI whose password contains a bare {@code / ? #}, before any message shows a part of it. Such a
     * character ends the authority, and the rest of the password looks like path, query or fragment. If the password
     * contains a bare {@code @} as well, the text before it looks like the login; then only the value of an option may
     * contain an @.
     */
    private void refuseMisplacedSecret(int at) {
        String query = String.valueOf(uri.getRawQuery());
        String rest = uri.getRawPath() + uri.getRawFragment() + (at < 0 ? query : "");
        if (rest.contains("@") || AT_IN_OPTION_NAME.matcher(query).find()) {
            throw misplacedSecret();
        }
        if (uri.getRawFragment() != null && topology != Topology.SENTINEL) {
            throw wrong("# after the host", "no fragment; a # in a password is written %23");
        }
    }

    private static IllegalArgumentException misplacedSecret() {
        return wrong(
                "an @ after the host",
                "user and password before the host, with characters such as / # ? in them written %2F %23 %3F");
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

    private int port(String text) {
        if (!text.matches("\\d{1,5}") || Integer.parseInt(text) < 1 || Integer.parseInt(text) > 65_535) {
            throw wrong("port: not a number from 1 to 65535", "as in " + example() + ", with a host after the @");
        }
        return Integer.parseInt(text);
    }

    private int database(String path) {
        String text = path.startsWith("/") ? path.substring(1) : path;
        if (topology == Topology.CLUSTER && !text.matches("0?")) {
            throw wrong("database: not 0", "none; a cluster has only database 0");
        }
        if (!text.matches("\\d{0,6}")) {
            throw wrong("database: not a number", "a number, for example " + example());
        }
        return text.isEmpty() ? 0 : Integer.parseInt(text);
    }

    private Map<String, String> options(@Nullable String query) {
        List<String> known = new ArrayList<>(List.of(
                "timeout",
                "clientName",
                "namePrefix",
                "internalPrefix",
                "ca",
                "cert",
                "key",
                "mode",
                "minReplicas",
                "redissonChannels"));
        if (topology == Topology.SENTINEL) {
            known.addAll(List.of("sentinelUser", "sentinelPassword"));
        }
        Map<String, String> options = new LinkedHashMap<>();
        if (query == null || query.isEmpty()) {
            return options;
        }
        for (String pair : query.split("&", -1)) {
            int equals = pair.indexOf('=');
            String name = decode(equals < 0 ? pair : pair.substring(0, equals), "option");
            if (!known.contains(name)) {
                if (pair.indexOf('@') >= 0) {
                    throw misplacedSecret();
                }
                throw wrong("option: unknown name", "one of " + String.join(", ", known));
            }
            String value = equals < 0 ? "" : decode(pair.substring(equals + 1), name);
            if (options.put(name, value) != null) {
                throw wrong("option: \"" + name + "\" twice", "once");
            }
        }
        return options;
    }

    private static Duration timeout(@Nullable String text) {
        if (text == null) {
            return DEFAULT_TIMEOUT;
        }
        Duration timeout = duration(text, "ms|s");
        return checkTimeout(timeout == null ? Duration.ZERO : timeout, text);
    }

    /** Returns the duration that a text says, a number with one of these units; null if it says none. */
    public static @Nullable Duration duration(String text, String units) {
        Matcher matcher = Pattern.compile("(\\d{1,9})(" + units + ")").matcher(text);
        if (!matcher.matches()) {
            return null;
        }
        long amount = Long.parseLong(matcher.group(1));
        return switch (matcher.group(2)) {
            case "ms" -> Duration.ofMillis(amount);
            case "s" -> Duration.ofSeconds(amount);
            default -> Duration.ofMinutes(amount);
        };
    }

    public static Duration checkTimeout(Duration timeout, String text) {
        if (timeout.compareTo(Duration.ofMillis(10)) < 0 || timeout.compareTo(Duration.ofSeconds(60)) > 0) {
            throw wrong("timeout: \"" + text + "\"", "10ms to 60s, for example 500ms or 2s");
        }
        return timeout;
    }

    private static <E extends Enum<E>> E oneOf(E[] values, String option, String text) {
        List<String> names = new ArrayList<>();
        for (E value : values) {
            String name = value.name().toLowerCase(Locale.ROOT);
            if (name.equals(text)) {
                return value;
            }
            names.add(name);
        }
        throw wrong(option + ": \"" + text + "\"", "one of " + String.join(", ", names));
    }

    private static int replicas(String text) {
        return checkReplicas(text.matches("\\d{1,4}") ? Integer.parseInt(text) : -1, text);
    }

    public static int checkReplicas(int replicas, String text) {
        if (replicas < 0 || replicas > RedisSettings.REPLICAS_MAX) {
            throw wrong("minReplicas: \"" + text + "\"", "0 to " + RedisSettings.REPLICAS_MAX);
        }
        return replicas;
    }

    private static String clientName(String text) {
        if (!text.matches("[!-~]{1,64}")) {
            throw wrong("clientName: \"" + text + "\"", "1 to 64 ASCII characters without spaces");
        }
        return text;
    }

    /** Refuses braces, because the tag that puts the keys of a lock into one cluster slot follows the prefix. */
    public static String checkInternalPrefix(String text) {
        if (!text.matches("[!-~&&[^{}]]{1,64}")) {
            throw wrong("internalPrefix: \"" + text + "\"", "1 to 64 ASCII characters without spaces and braces");
        }
        return text;
    }

    /** Allows braces, because slot and tag follow from the whole key. */
    public static String checkNamePrefix(String text) {
        if (!text.matches("[!-~]{0,64}")) {
            throw wrong(
                    "namePrefix: \"" + text + "\"",
                    "ASCII characters without spaces, at most 64; empty for keys that are the names alone");
        }
        return text;
    }

    /** Refuses a name prefix that would put every lock among the internal keys. */
    public static void checkApart(String namePrefix, String internalPrefix) {
        if (LockKeys.isInternal(namePrefix, internalPrefix)) {
            throw wrong(
                    "namePrefix: \"" + namePrefix + "\"",
                    "one that does not begin with the internalPrefix, \"" + internalPrefix + ":\"");
        }
    }

    private static String decode(String raw, String what) {
        try {
            // Decodes a form's "+" to a space, so that character is escaped first.
            return URLDecoder.decode(raw.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            // The message does not show the raw text, which may be the password.
            throw wrong(what + ": malformed percent-encoding", "% and two hexadecimal digits; % itself is %25");
        }
    }

    static IllegalArgumentException wrong(String found, String expected) {
        return new IllegalArgumentException("redis URI, " + found + " (expected: " + expected + ")");
    }
}
