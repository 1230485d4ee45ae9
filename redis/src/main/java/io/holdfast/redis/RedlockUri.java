package io.holdfast.redis;

import io.holdfast.quorum.QuorumStores;
import io.holdfast.redis.server.RedisSettings;
import io.holdfast.redis.server.RedisUris;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The settings in a {@code redlock://} URI: the settings of the quorum, and for each server the settings of a
 * {@code redis://} URI with its address.
 */
record RedlockUri(QuorumStores.Builder settings, List<RedisSettings> servers) {

    private static final String EXAMPLE = "redlock://host1:6379,host2:6379,host3:6379";

    /**
     * Reads a URI.
     *
     * @throws IllegalArgumentException naming the part that is wrong, never with the password
     */
    static RedlockUri parse(URI uri) {
        String authority = uri.getRawAuthority();
        if (uri.isOpaque() || authority == null) {
            throw wrong("hosts: missing", "for example " + EXAMPLE);
        }
        if (uri.getRawFragment() != null
                || (authority.indexOf('@') < 0 && (uri.getRawPath() + uri.getRawQuery()).contains("@"))) {
            throw wrong(
                    "# or @ after the hosts",
                    "user and password before the hosts, with characters such as / # ? in them written %2F %23 %3F");
        }
        QuorumStores.Builder settings = QuorumStores.builder();
        boolean tls = false;
        List<String> forServers = new ArrayList<>();
        String query = uri.getRawQuery();
        for (String pair : query == null || query.isEmpty() ? new String[0] : query.split("&", -1)) {
            int equals = pair.indexOf('=');
            String option = equals < 0 ? pair : pair.substring(0, equals);
            String value = equals < 0 ? "" : pair.substring(equals + 1);
            switch (option) {
                case "memberTimeout" -> settings.memberTimeout(duration(option, value));
                case "longestLease" -> settings.longestLease(duration(option, value));
                case "clockDrift" -> settings.clockDrift(fraction(option, value));
                case "bootstrap" -> settings.bootstrap(truth(option, value));
                case "tls" -> tls = truth(option, value);
                case "minReplicas" ->
                    throw wrong("minReplicas", "not with redlock: its servers are independent, without replicas");
                case "redissonChannels" ->
                    throw wrong("redissonChannels", "not with redlock, whose locks are not shared with Redisson");
                case "mode" -> throw wrong("mode", "not with redlock: its servers must run Lua scripts");
                default -> forServers.add(pair);
            }
        }
        int at = authority.lastIndexOf('@');
        String login = authority.substring(0, at + 1);
        String rest = uri.getRawPath() + (forServers.isEmpty() ? "" : "?" + String.join("&", forServers));
        List<RedisSettings> servers = new ArrayList<>();
        for (String host : authority.substring(at + 1).split(",", -1)) {
            // Java's parser refuses brackets in a list of hosts, and requires them around a single IPv6 address.
            String address = host.replace("%5B", "[").replace("%5D", "]");
            servers.add(server((tls ? "rediss://" : "redis://") + login + address + rest));
        }
        return new RedlockUri(settings, List.copyOf(servers));
    }

    private static RedisSettings server(String text) {
        try {
            return RedisUris.parse(new URI(text));
        } catch (URISyntaxException e) {
            // The cause's message repeats the whole input, password included: not kept.
            throw wrong("malformed", "for example " + EXAMPLE);
        }
    }

    private static Duration duration(String option, String value) {
        Duration duration = RedisUris.duration(value, "ms|s|m");
        if (duration == null) {
            throw wrong(option + ": \"" + value + "\"", "for example 100ms, 60s or 5m");
        }
        return duration;
    }

    private static double fraction(String option, String value) {
        if (!value.matches("0?\\.\\d{1,6}")) {
            throw wrong(option + ": \"" + value + "\"", "a fraction, for example 0.02");
        }
        return Double.parseDouble(value);
    }

    private static boolean truth(String option, @Nullable String value) {
        if (!"true".equals(value) && !"false".equals(value)) {
            throw wrong(option + ": \"" + value + "\"", "true or false");
        }
        return "true".equals(value);
    }

    private static IllegalArgumentException wrong(String found, String expected) {
        return new IllegalArgumentException("redlock URI, " + found + " (expected: " + expected + ")");
    }
}
