package io.holdfast.redis;

import io.lettuce.core.api.StatefulRedisConnection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Sees to it that a new connection to a quorum's member is used only after it is known whether the server is still in the
 * same life. The shared connection may find out later: a server that came back without its last writes would vote until
 * then.
 */
final class SameLife {

    private final Runnable onOther;
    private volatile String runId = "";

    /** @param onOther the server is in another life than before; runs before the connection is used */
    SameLife(Runnable onOther) {
        this.onOther = onOther;
    }

    CompletionStage<StatefulRedisConnection<String, String>> checked(
            CompletionStage<StatefulRedisConnection<String, String>> connecting) {
        // Not the driver's own kind of future: see DedicatedConnections.
        CompletableFuture<StatefulRedisConnection<String, String>> outcome = new CompletableFuture<>();
        connecting.whenComplete((connection, error) -> {
            if (error != null) {
                outcome.completeExceptionally(error);
                return;
            }
            connection.async().info("server").whenComplete((info, failure) -> {
                if (failure != null) {
                    var unused = connection.closeAsync();
                    outcome.completeExceptionally(failure);
                    return;
                }
                String now = MemberInfo.parse(info, "").runId();
                String before = runId;
                runId = now;
                if (!before.isEmpty() && !before.equals(now)) {
                    onOther.run();
                }
                outcome.complete(connection);
            });
        });
        return outcome;
    }
}
