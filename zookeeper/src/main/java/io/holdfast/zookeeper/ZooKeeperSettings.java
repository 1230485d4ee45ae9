package io.holdfast.zookeeper;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The settings in a store's URI. If the host is missing or a character is not escaped, a password may be mistaken for
 * the host, port, folder or an option. So messages quote only the values of known options.
 *
 * @param servers {@code host:port,…} as ZooKeeper takes it
 * @param folder the path of the node that has the locks, without a slash at the end
 * @param login {@code user:password}, or null
 * @param ca a PEM file with the certificates to trust; null for those of the JVM
 * @param cert a PEM file with the client's certificate and key; null for none
 */
record ZooKeeperSettings(
        String servers,
        String folder,
        @Nullable String login,
        Duration sessionTimeout,
        Duration timeout,
        Access access,
        boolean tls,
        @Nullable Path ca,
        @Nullable Path cert) {

    /** The rights of the nodes. */
    enum Access {
        OPEN,
        CREATOR,
        READ
    }

    private static final List<String> OPTIONS = List.of("sessionTimeout", "timeout", "acl", "tls", "ca", "cert");
    private static final String EXAMPLE = "zookeeper://host1:2181,host2:2181,host3:2181/folder";
    private static final String DEFAULT_FOLDER = "/holdfast";
    private static final int DEFAULT_PORT = 2181;
    private static final long NEXT_SERVER_MILLIS = 1_000;
    private static final Pattern HOST =
            Pattern.compile("[\\w.-]+|\\[[0-9a-fA-F:.%]+\\]", Pattern.UNICODE_CHARACTER_CLASS);
    private static final Pattern DURATION = Pattern.compile("(\\d{1,9})(ms|s|m)");

    /**
     * Reads a URI.
     *
     * @throws IllegalArgumentException naming the part that is wrong, never with the password
     */
    static ZooKeeperSettings parse(URI uri) {
        String authority = uri.getRawAuthority();
        if (uri.isOpaque() || authority == null) {
            throw wrong("host: missing", "for example " + EXAMPLE);
        }
        int at = authority.lastIndexOf('@');
        if (uri.getRawFragment() != null
                || (at < 0 && uri.getRawSchemeSpecificPart().contains("@"))) {
            throw wrong("login: cut short", "characters such as / ? # in a password written as %2F %3F %23");
        }
        String login = at < 0 ? null : login(authority.substring(0, at));
        Map<String, String> options = options(uri.getRawQuery());
        boolean tls = flag("tls", options.getOrDefault("tls", "false"));
        // Java's parser takes no brackets in a list of hosts; so an IPv6 address there is written %5B::1%5D.
        String hosts = authority.substring(at + 1).replace("%5B", "[").replace("%5D", "]");
        return new ZooKeeperSettings(
                servers(hosts),
                folder(uri.getRawPath()),
                login,
                duration("sessionTimeout", options.getOrDefault("sessionTimeout", "30s"), 300, 600_000, "300ms to 10m"),
                duration("timeout", options.getOrDefault("timeout", "5s"), 100, 60_000, "100ms to 60s"),
                access(options.getOrDefault("acl", login == null ? "open" : "creator"), login != null),
                tls,
                file("ca", options.get("ca"), tls),
                file("cert", options.get("cert"), tls));
    }

    /** Returns the URI without login and options. */
    String describe() {
        return "zookeeper://" + servers + folder;
    }

    /**
     * Returns how long it takes to notice a dead connection, and to be answered on a new one: ZooKeeper's client gives
     * up a connection that has been silent for two thirds of the session timeout.
     */
    Duration recovery() {
        return sessionTimeout.multipliedBy(2).dividedBy(3).plus(timeout);
    }

    /**
     * Returns how long to wait for the first connection. A minority of servers may be down, and all of them may be
     * tried first. For a server that hangs, ZooKeeper waits for the session timeout divided by the number of servers,
     * which cannot be set. It tries the next server up to a second later.
     */
    long connectMillis() {
        int all = servers.split(",", -1).length;
        int mayBeOff = (all - 1) / 2;
        return mayBeOff * (sessionTimeout.toMillis() / all + NEXT_SERVER_MILLIS) + timeout.toMillis();
    }

    private static String servers(String text) {
        List<String> servers = new ArrayList<>();
        for (String server : text.split(",", -1)) {
            int colon = server.endsWith("]") ? -1 : server.lastIndexOf(':');
            String host = colon < 0 ? server : server.substring(0, colon);
            if (host.isEmpty()) {
                throw wrong("host: missing", "for example " + EXAMPLE);
            }
            if (!HOST.matcher(host).matches()) {
                throw wrong("host: neither a name nor an address", "a host name or address; an IPv6 address in [ ]");
            }
            servers.add(host + ":" + (colon < 0 ? DEFAULT_PORT : port(server.substring(colon + 1))));
        }
        return String.join(",", servers);
    }

    private static int port(String text) {
        if (text.matches("\\d{1,5}")) {
            int port = Integer.parseInt(text);
            if (port >= 1 && port <= 65_535) {
                return port;
            }
        }
        throw wrong("port: not a number from 1 to 65535", "for example " + EXAMPLE + ", with a login before an @");
    }

    private static String login(String raw) {
        int colon = raw.indexOf(':');
        if (colon <= 0 || colon == raw.length() - 1) {
            throw wrong("login: incomplete", "user:password@ before the hosts");
        }
        return decode(raw.substring(0, colon), "user") + ":" + decode(raw.substring(colon + 1), "password");
    }

    private static String folder(@Nullable String raw) {
        String path = raw == null ? "" : decode(raw, "folder");
        while (path.endsWith("/")) {
            path = path.substring(0, path.length() - 1);
        }
        if (path.isEmpty()) {
            return DEFAULT_FOLDER;
        }
        for (String part : path.substring(1).split("/", -1)) {
            if (part.isEmpty() || part.equals(".") || part.equals("..") || !part.equals(part.strip())) {
                throw wrong("folder: not a path of nodes", "an absolute path of nodes, for example /apps/locks");
            }
        }
        if (path.equals("/zookeeper") || path.startsWith("/zookeeper/")) {
            throw wrong("folder: in /zookeeper", "one outside of /zookeeper, which is ZooKeeper's own");
        }
        return path;
    }

    private static Map<String, String> options(@Nullable String query) {
        Map<String, String> options = new LinkedHashMap<>();
        if (query == null || query.isEmpty()) {
            return options;
        }
        for (String pair : query.split("&", -1)) {
            int equals = pair.indexOf('=');
            String key = equals < 0 ? pair : pair.substring(0, equals);
            if (!OPTIONS.contains(key)) {
                throw wrong("option: unknown name", "one of " + OPTIONS);
            }
            if (options.put(key, equals < 0 ? "" : decode(pair.substring(equals + 1), key)) != null) {
                throw wrong("option: \"" + key + "\" is there twice", "once");
            }
        }
        return options;
    }

    private static Duration duration(String key, String text, long least, long most, String expected) {
        Matcher matcher = DURATION.matcher(text);
        if (matcher.matches()) {
            long amount = Long.parseLong(matcher.group(1));
            long millis = switch (matcher.group(2)) {
                case "ms" -> amount;
                case "s" -> amount * 1_000;
                default -> amount * 60_000;
            };
            if (millis >= least && millis <= most) {
                return Duration.ofMillis(millis);
            }
        }
        throw wrong(key + ": \"" + text + "\"", expected + ", for example 10s");
    }

    private static boolean flag(String key, String text) {
        if (text.equals("true") || text.equals("false")) {
            return text.equals("true");
        }
        throw wrong(key + ": \"" + text + "\"", "true or false");
    }

    private static Access access(String text, boolean hasLogin) {
        Access access = switch (text) {
            case "open" -> Access.OPEN;
            case "creator" -> Access.CREATOR;
            case "read" -> Access.READ;
            default -> throw wrong("acl: \"" + text + "\"", "open, creator or read");
        };
        if (access != Access.OPEN && !hasLogin) {
            throw wrong("acl: \"" + text + "\" without a login", "user:password@ before the hosts");
        }
        return access;
    }

    private static @Nullable Path file(String key, @Nullable String text, boolean tls) {
        if (text == null) {
            return null;
        }
        if (!tls) {
            throw wrong(key + ": \"" + text + "\"", "only with tls=true");
        }
        try {
            Path file = Path.of(text);
            // ZooKeeper recognizes the type of a file by the end of its name.
            if (Files.isReadable(file) && text.endsWith(".pem")) {
                return file;
            }
        } catch (InvalidPathException e) {
            // Answered below.
        }
        throw wrong(key + ": \"" + text + "\"", "a file that can be read, with a name that ends with .pem");
    }

    private static String decode(String raw, String what) {
        try {
            return NodeNames.decode(raw);
        } catch (IllegalArgumentException e) {
            // The raw text may be the password: not shown.
            throw wrong(what + ": malformed percent-encoding", "% and two hexadecimal digits; % itself is %25");
        }
    }

    private static IllegalArgumentException wrong(String found, String expected) {
        return new IllegalArgumentException("zookeeper URI, " + found + " (expected: " + expected + ")");
    }
}
