package io.holdfast.testkit.servers;

import java.nio.file.Path;

/**
 * A server program that runs on this machine.
 *
 * <pre>{@code
 * Installation bundled = RedisServer.available().get(0);
 * try (RedisServer server = RedisServer.builder().installation(bundled).start();
 *         LockClient locks = LockClient.connect(server.uri())) {
 *     locks.run("order:42", lease -> orders.refund(42));
 * }
 * }</pre>
 *
 * @param label kind and version, for example {@code Redis 6.2.11}
 * @param version the version alone
 */
public record Installation(String label, Path executable, String version) {

    /** Returns whether this is version {@code major.minor} or a later one. */
    public boolean isAtLeast(int major, int minor) {
        String[] parts = version.split("\\.", -1);
        int itsMajor = Integer.parseInt(parts[0]);
        return itsMajor > major || (itsMajor == major && parts.length > 1 && Integer.parseInt(parts[1]) >= minor);
    }

    @Override
    public String toString() {
        return label;
    }
}
