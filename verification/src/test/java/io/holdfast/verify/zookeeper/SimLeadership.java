package io.holdfast.verify.zookeeper;

import io.holdfast.verify.zookeeper.SimCommand.Write;
import io.holdfast.verify.zookeeper.SimConnection.Request;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * What a server does while it takes itself for the leader: puts writes into their order, commits those that a majority
 * has, and ends sessions that it has not heard of, by its own clock.
 */
final class SimLeadership {

    /** A session; owned by the server that its client was connected to last. */
    private static final class Tracked {
        long endNanos;

        @Nullable
        SimMember owner;

        boolean closing;
    }

    private record Waiting(int position, Runnable answer) {}

    private final SimEnsemble ensemble;
    private final SimMember self;
    final long epoch;
    private final Map<SimMember, SimPeerLink> learners = new LinkedHashMap<>();
    private final Map<SimMember, Long> heardNanos = new HashMap<>();

    /** How much of the log is known to be on a server's disk, by server. */
    private final Map<Integer, Integer> acked = new TreeMap<>();

    private final Map<Long, Tracked> sessions = new TreeMap<>();
    private final List<Waiting> syncs = new ArrayList<>();
    private int counter;
    private int committed;
    private boolean over;

    SimLeadership(SimEnsemble ensemble, SimMember self, long epoch) {
        this.ensemble = ensemble;
        this.self = self;
        this.epoch = epoch;
        committed = self.log.size();
        self.tree.sessions().forEach((id, timeout) -> track(id, timeout, null));
        repeat(ensemble.tickNanos / 2, this::ping);
        repeat(ensemble.tickNanos, this::countLearners);
        repeat(ensemble.containerNanos, this::removeContainers);
    }

    private void repeat(long nanos, Runnable task) {
        self.after(nanos, () -> {
            if (!over) {
                task.run();
                repeat(nanos, task);
            }
        });
    }

    // --- followers ---

    boolean isLedBy(SimMember member) {
        return member == self && !over;
    }

    int committed() {
        return committed;
    }

    /** A follower has the whole log. */
    void joins(SimPeerLink link) {
        learners.put(link.follower, link);
        heardNanos.put(link.follower, self.clockNanos());
        int position = self.log.size();
        link.toLeader(() -> acks(link.follower, position));
    }

    void leaves(SimPeerLink link) {
        learners.remove(link.follower, link);
    }

    void acks(SimMember follower, int position) {
        if (over) {
            return;
        }
        acked.merge(follower.id, position, Math::max);
        commit();
    }

    private void commit() {
        acked.put(self.id, self.log.size());
        List<Integer> positions = new ArrayList<>(acked.values());
        positions.sort((a, b) -> b - a);
        int majority = ensemble.size() / 2 + 1;
        if (positions.size() < majority) {
            return;
        }
        int now = positions.get(majority - 1);
        if (now <= committed) {
            return;
        }
        committed = now;
        learners.values().forEach(link -> link.toFollower(() -> link.follower.applyUpTo(now)));
        self.applyUpTo(now);
        for (Waiting sync : List.copyOf(syncs)) {
            if (sync.position() <= now) {
                syncs.remove(sync);
                sync.answer().run();
            }
        }
    }

    private void ping() {
        learners.values()
                .forEach(link -> link.toFollower(() -> {
                    link.follower.heard();
                    Map<Long, Integer> touched = link.follower.takeTouched();
                    link.toLeader(() -> reported(link.follower, touched));
                }));
    }

    private void reported(SimMember follower, Map<Long, Integer> touched) {
        heardNanos.put(follower, self.clockNanos());
        touched.forEach(this::touch);
    }

    private void countLearners() {
        long now = self.clockNanos();
        long limit = SimEnsemble.SYNC_LIMIT * ensemble.tickNanos;
        List<SimPeerLink> silent = learners.values().stream()
                .filter(link -> now - heardNanos.getOrDefault(link.follower, now) > limit)
                .toList();
        silent.forEach(link -> {
            leaves(link);
            link.close(self);
        });
        if (learners.size() + 1 < ensemble.size() / 2 + 1) {
            self.lookForLeader();
        }
    }

    void end() {
        over = true;
        learners.values().forEach(link -> link.close(self));
        learners.clear();
    }

    // --- sessions ---

    private void track(long id, int timeout, @Nullable SimMember owner) {
        Tracked session = new Tracked();
        session.owner = owner;
        sessions.put(id, session);
        touch(id, timeout);
        watchOver(id, session);
    }

    /** The leader has heard of a session. What it hears of one that it is ending is too late. */
    void touch(long id, int timeoutMillis) {
        Tracked session = sessions.get(id);
        if (session != null && !session.closing) {
            // Servers round this up to their ticks; what they may not do is what counts here.
            session.endNanos = self.clockNanos() + timeoutMillis * 1_000_000L;
        }
    }

    private void watchOver(long id, Tracked session) {
        self.after(self.worldNanos(session.endNanos - self.clockNanos()), () -> {
            if (over || session.closing) {
                return;
            }
            if (self.clockNanos() < session.endNanos) {
                watchOver(id, session);
            } else {
                session.closing = true;
                ensemble.expires(id);
                propose(0, new SimCommand.EndSession(id), null);
            }
        });
    }

    /** A client is connected to another server now. Returns whether its session is there. */
    boolean revalidate(SimMember server, long id, int timeout) {
        Tracked session = sessions.get(id);
        if (session == null || session.closing) {
            return false;
        }
        touch(id, timeout);
        session.owner = server;
        return true;
    }

    // --- writes ---

    void begins(SimMember server, long id, int timeout, Request request) {
        track(id, timeout, server);
        propose(id, new SimCommand.NewSession(id, timeout), request);
    }

    void request(SimMember server, long id, Write command, Request request) {
        Tracked session = sessions.get(id);
        if (session == null || session.closing) {
            propose(id, new SimCommand.Refused(Code.SESSIONEXPIRED.intValue()), request);
        } else if (session.owner != null && session.owner != server) {
            propose(id, new SimCommand.Refused(Code.SESSIONMOVED.intValue()), request);
        } else {
            if (command instanceof SimCommand.EndSession) {
                session.closing = true;
            }
            propose(id, command, request);
        }
    }

    /** What no client asked for. */
    void administer(Write command) {
        propose(0, command, null);
    }

    /** Answered after what is under way: not by a majority, so also by a leader that another has replaced. */
    void sync(Runnable answer) {
        if (committed == self.log.size()) {
            answer.run();
        } else {
            syncs.add(new Waiting(self.log.size(), answer));
        }
    }

    private void propose(long session, Write command, @Nullable Request request) {
        SimMember.Txn txn = new SimMember.Txn((epoch << 32) + ++counter, session, command, request);
        self.log.add(txn);
        int position = self.log.size();
        learners.values()
                .forEach(link -> link.toFollower(() -> {
                    link.follower.log.add(txn);
                    link.toLeader(() -> acks(link.follower, position));
                }));
        commit();
    }

    private void removeContainers() {
        self.tree.emptyContainers().forEach(path -> propose(0, new SimCommand.DeleteContainer(path), null));
    }
}
