package io.holdfast.redis;

import io.holdfast.testkit.servers.RedisServer;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Three servers of their own, for tests of the modes {@code lua} and {@code commands}, on the first one, and of
 * RedLock.
 */
record ThreeServers(List<RedisServer> all) implements AutoCloseable {

    static ThreeServers start() {
        return new ThreeServers(List.of(RedisServer.start(), RedisServer.start(), RedisServer.start()));
    }

    /** Returns the servers that have the locks of a kind: all for {@code redlock}. */
    List<RedisServer> of(String kind) {
        return kind.equals("redlock") ? all : all.subList(0, 1);
    }

    /** @param options those after the question mark, not encoded; may be empty */
    String uri(String kind, String options) {
        String hosts =
                all.stream().map(server -> server.host() + ":" + server.port()).collect(Collectors.joining(","));
        String base = kind.equals("redlock")
                ? "redlock://" + hosts + "?bootstrap=true&memberTimeout=5s"
                : all.get(0).uri() + "?mode=" + kind;
        return base
                + (options.isEmpty() ? "" : "&" + options.replace("{", "%7B").replace("}", "%7D"));
    }

    @Override
    public void close() {
        all.forEach(RedisServer::close);
    }
}
