package io.holdfast.sql;

import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A JDBC URL without our own options, and these options.
 *
 * @param url for the driver; may hold a password
 * @param shown the URL for messages: without its parameters
 * @param secrets the passwords in the URL
 * @param given what the caller tells the driver beside the URL
 */
record SqlSettings(
        Kind kind,
        String url,
        String shown,
        boolean createTable,
        boolean notifies,
        List<String> secrets,
        DriverProperties given) {

    /** The databases that can keep locks. */
    enum Kind {
        POSTGRESQL("postgresql", "org.postgresql.Driver", "org.postgresql:postgresql"),
        MYSQL("mysql", "com.mysql.cj.jdbc.Driver", "com.mysql:mysql-connector-j"),
        MARIADB("mariadb", "org.mariadb.jdbc.Driver", "org.mariadb.jdbc:mariadb-java-client"),
        H2("h2", "org.h2.Driver", "com.h2database:h2");

        private final String protocol;
        private final String driver;
        private final String artifact;

        Kind(String protocol, String driver, String artifact) {
            this.protocol = protocol;
            this.driver = driver;
            this.artifact = artifact;
        }

        String protocol() {
            return protocol;
        }

        String driver() {
            return driver;
        }

        String artifact() {
            return artifact;
        }

        String script() {
            return (isMySql() ? "mysql" : protocol) + ".sql";
        }

        /** Returns whether it is MySQL or MariaDB, which have the same statements. */
        boolean isMySql() {
            return this == MYSQL || this == MARIADB;
        }
    }

    /** The time limits that the store sets in a server's driver, unless the URL has its own. */
    static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);

    static final Duration SOCKET_TIMEOUT = Duration.ofSeconds(3);

    private static final String EXPECTED =
            " (expected: jdbc:postgresql://host/database?user=…, jdbc:mysql://…, jdbc:mariadb://… or"
                    + " jdbc:h2:file:/path/locks;AUTO_SERVER=TRUE)";

    /** On, in any form that a driver understands: MariaDB's takes a 1, or no value, for true, and MySQL's a yes. */
    private static final Pattern RESENDING =
            Pattern.compile("(?i)(transactionReplay|autoReconnect|autoReconnectForPools)(=(?!(false|no|0)$).*)?");

    /** A password within the address, as MySQL's drivers allow: of the first user, of each, or as an option of a host. */
    private static final List<Pattern> ADDRESS_SECRETS = List.of(
            Pattern.compile("//[^/@:]*:([^/]*)@"),
            Pattern.compile("(?<=[/,])[^/@:,]*:([^/@,]*)@"),
            Pattern.compile("(?i)[(,][^=(,]*(?:password|secret)[^=(,]*=([^,)]*)"));

    @Override
    public String toString() {
        return shown;
    }

    /**
     * Returns how long it takes to notice a dead connection, and to be answered on a new one. A waiter asks each second,
     * and misses the answer. A host that hangs still accepts connections, so the first new one may get no answer, either:
     * a second one may lead to another host at that address. It is connected, and answers. As with our own timeouts, also
     * if the URL has others.
     */
    Duration recovery() {
        return kind == Kind.H2
                ? Duration.ZERO
                : Duration.ofSeconds(1)
                        .plus(SOCKET_TIMEOUT)
                        .plus(CONNECT_TIMEOUT)
                        .plus(CONNECT_TIMEOUT)
                        .plus(SOCKET_TIMEOUT);
    }

    static SqlSettings parse(URI uri) {
        return parse(uri.toString(), DriverProperties.none());
    }

    static SqlSettings parse(String text, DriverProperties given) {
        String rest = text.substring("jdbc:".length());
        String protocol = rest.substring(0, Math.max(0, rest.indexOf(':'))).toLowerCase(Locale.ROOT);
        Kind kind = kind(protocol);
        String separator = kind == Kind.H2 ? ";" : "&";
        int at = text.indexOf(kind == Kind.H2 ? ';' : '?');
        String address = at < 0 ? text : text.substring(0, at);
        String[] parameters = at < 0 ? new String[0] : text.substring(at + 1).split(separator, -1);
        List<String> kept = new ArrayList<>();
        List<String> secrets = new ArrayList<>();
        refuseOtherSeparator(kind, address);
        refuseSeveralServers(kind, rest);
        refuseResending(kind, parameters);
        for (Pattern pattern : ADDRESS_SECRETS) {
            Matcher secret = pattern.matcher(address);
            while (secret.find()) {
                addSecret(secrets, secret.group(1));
            }
        }
        boolean createTable = false;
        boolean notify = true;
        for (String parameter : parameters) {
            String[] pair = parameter.split("=", 2);
            String value = pair.length < 2 ? "" : pair[1];
            switch (pair[0].toLowerCase(Locale.ROOT)) {
                case "createtable" -> createTable = bool(pair[0], value);
                case "notify" -> notify = bool(pair[0], value);
                default -> kept.add(parameter);
            }
            if (isSecret(pair[0])) {
                addSecret(secrets, value);
            }
        }
        String tail = kept.isEmpty() ? "" : (kind == Kind.H2 ? ";" : "?") + String.join(separator, kept);
        String shown = hidden(address.replaceFirst("//[^/]*@", "//"), secrets);
        return new SqlSettings(kind, address + tail, shown, createTable, notify, List.copyOf(secrets), given);
    }

    private static void addSecret(List<String> secrets, String value) {
        if (!value.isEmpty()) {
            secrets.add(value);
            secrets.add(URLDecoder.decode(value.replaceAll("%(?![0-9a-fA-F]{2})", "%25"), StandardCharsets.UTF_8));
        }
    }

    /** It would be a part of the database's name, so the option would have no effect. */
    private static void refuseOtherSeparator(Kind kind, String address) {
        Matcher option = Pattern.compile("(?i)[?;&](createTable|notify)=").matcher(address);
        if (option.find()) {
            throw new IllegalArgumentException("store URI, option " + option.group(1)
                    + ": not after the character by which the driver of this database begins its options (expected: "
                    + (kind == Kind.H2 ? ";" : "?") + option.group(1) + "=true)");
        }
    }

    private static void refuseSeveralServers(Kind kind, String address) {
        if (kind.isMySql() && address.matches("(?i)[a-z]+:load-?balance:.*")) {
            throw new IllegalArgumentException(
                    "store URI: a mode of the driver that sends statements to several servers" + EXPECTED);
        }
    }

    /** A take that the driver sends again could be taken twice. */
    static void refuseResending(Kind kind, String... parameters) {
        if (!kind.isMySql()) {
            return;
        }
        for (String parameter : parameters) {
            if (RESENDING.matcher(parameter).matches()) {
                throw new IllegalArgumentException("store URI, option " + parameter
                        + ": the driver would send statements again, which the store does itself (expected: none)");
            }
        }
    }

    private static Kind kind(String protocol) {
        for (Kind kind : Kind.values()) {
            if (kind.protocol.equals(protocol)) {
                return kind;
            }
        }
        String why = switch (protocol) {
            case "" -> "\"";
            default -> "\", which is not supported: its isolation was never tested with these statements";
        };
        throw new IllegalArgumentException("store URI: \"jdbc:" + protocol + why + EXPECTED);
    }

    /** Returns the same with this answer to whether missing tables are made. */
    SqlSettings creating(boolean creates) {
        return new SqlSettings(kind, url, shown, creates, notifies, secrets, given);
    }

    /** Returns whether the URL of H2 has this setting. */
    boolean has(String setting) {
        return url.toUpperCase(Locale.ROOT).contains(";" + setting + "=");
    }

    static boolean isSecret(String parameter) {
        String name = parameter.toLowerCase(Locale.ROOT);
        return name.contains("password") || name.contains("secret") || name.contains("token");
    }

    private static boolean bool(String option, String value) {
        return switch (value.toLowerCase(Locale.ROOT)) {
            case "true" -> true;
            case "false" -> false;
            default ->
                throw new IllegalArgumentException("store URI, option " + option
                        + ": a value that is neither true nor false (expected: " + option + "=true)");
        };
    }

    /** Returns a text without the passwords of the URL and of the caller. */
    String hidden(String text) {
        return given.hidden(hidden(text, secrets));
    }

    private static String hidden(String text, List<String> secrets) {
        String hidden = text;
        for (String secret : secrets) {
            hidden = hidden.replace(secret, "***");
        }
        return hidden;
    }
}
