package io.holdfast.bench.harness;

import io.holdfast.bench.agent.Message;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The children of some cases, by peer. They stay up over cases and rounds, so that the first case warms them, and have
 * a client open only while they are measured. Used by one thread.
 */
final class Agents implements AutoCloseable {

    /** The most children of a peer that stay up: sixteen of each of eleven peers need more than 24 GB of memory. */
    static final int KEPT = 8;

    private static final Duration OPEN_TIMEOUT = Duration.ofSeconds(60);

    private final List<String> jvmArgs;
    private final Path log;
    private final Map<String, List<AgentProcess>> byPeer = new HashMap<>();

    Agents(List<String> jvmArgs, Path log) {
        this.jvmArgs = jvmArgs;
        this.log = log;
    }

    /**
     * Returns children with an open client each. End them with {@link #close(List)}, or after a failure with {@link
     * #kill}.
     */
    List<AgentProcess> open(String peer, int count, String uri, Duration lease)
            throws IOException, InterruptedException {
        List<AgentProcess> agents = byPeer.computeIfAbsent(peer, unused -> new ArrayList<>());
        List<AgentProcess> fresh = new ArrayList<>();
        while (agents.size() < count) {
            AgentProcess agent = AgentProcess.start(jvmArgs, log);
            fresh.add(agent);
            agents.add(agent);
        }
        await(fresh);
        List<AgentProcess> used = List.copyOf(agents.subList(0, count));
        Message order = Message.of("open").with("peer", peer).with("uri", uri).with("lease", lease.toMillis());
        used.forEach(agent -> agent.send(order));
        await(used);
        return used;
    }

    void close(List<AgentProcess> used) throws InterruptedException {
        used.forEach(agent -> agent.send(Message.of("close")));
        await(used);
        if (used.size() > KEPT) {
            List<AgentProcess> ended = used.subList(KEPT, used.size());
            byPeer.values().forEach(agents -> agents.removeAll(ended));
            ended.forEach(AgentProcess::close);
        }
    }

    void kill(String peer) {
        List<AgentProcess> agents = byPeer.remove(peer);
        if (agents != null) {
            agents.forEach(AgentProcess::close);
        }
    }

    @Override
    public void close() {
        byPeer.values().forEach(agents -> agents.forEach(AgentProcess::close));
    }

    private static void await(List<AgentProcess> agents) throws InterruptedException {
        for (AgentProcess agent : agents) {
            agent.await(OPEN_TIMEOUT);
        }
    }
}
