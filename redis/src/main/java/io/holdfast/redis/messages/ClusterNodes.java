package io.holdfast.redis.messages;

import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** The connections to a cluster, as far as subscriptions use them: this package may not know their class. */
public interface ClusterNodes {

    /** Returns the address of a slot's master; null if no node serves the slot. */
    @Nullable
    String masterOf(int slot);

    /** Returns the addresses of the masters. */
    List<String> masters();

    /** Makes a connection for messages to a node. The driver restores the connection when it is lost. */
    CompletionStage<StatefulRedisPubSubConnection<String, String>> connectMessages(String node);

    /** Reads the map of slots again, at most once in each interval, however many commands fail. */
    void refresh();
}
