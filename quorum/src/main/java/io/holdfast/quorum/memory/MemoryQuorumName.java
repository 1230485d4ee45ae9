package io.holdfast.quorum.memory;

import io.holdfast.quorum.QuorumMember;
import io.holdfast.quorum.QuorumMember.Extended;
import io.holdfast.quorum.QuorumMember.Extension;
import io.holdfast.quorum.QuorumMember.Found;
import io.holdfast.quorum.QuorumMember.Released;
import io.holdfast.quorum.QuorumMember.Seen;
import io.holdfast.quorum.QuorumMember.Take;
import io.holdfast.quorum.QuorumMember.Vote;
import io.holdfast.quorum.QuorumMember.Written;
import io.holdfast.quorum.TokenRegister;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.HolderId;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One name at a member: its holder, its register, and the clients that wait. All calls are made under the node's lock.
 */
final class MemoryQuorumName {

    private final MemoryQuorumNode node;
    private final String name;

    private String holder = ""; // may have expired: see holder()
    private long expiresNanos;
    private long sequence;
    private TokenRegister register = TokenRegister.EMPTY;

    /** Client id → until when it counts as waiting; in the order of arrival. */
    private final Map<String, Long> waiting = new LinkedHashMap<>();

    MemoryQuorumName(MemoryQuorumNode node, String name) {
        this.node = node;
        this.name = name;
    }

    boolean isHeld() {
        return !holder().isEmpty();
    }

    TokenRegister register() {
        return register;
    }

    Vote take(Take take) {
        String client = HolderId.client(take.id());
        String held = holder();
        if (!held.isEmpty() && !held.equals(take.id())) {
            if (take.waitMillis() > 0) {
                wait(client, take.waitMillis(), held);
            }
            return Vote.refused(node.standing(), held, remainingMillis(), register.token(), waitingBeside(client));
        }
        if (held.isEmpty()) {
            holder = take.id();
            sequence = take.sequence();
            expiresNanos = node.nanoTime() + take.leaseMillis() * 1_000_000;
        } else if (take.sequence() >= sequence) {
            // A repetition must not lengthen the hold after an exact setting that was sent later.
            sequence = take.sequence();
            extendBy(take.leaseMillis());
        }
        waiting.remove(client);
        boolean accepted = register.admits(take.proposal(), take.id());
        register = register.write(take.proposal(), take.id());
        return Vote.granted(node.standing(), accepted, register.token(), waitingBeside(client));
    }

    Extended extend(Extension extension) {
        Found found = found(extension);
        return new Extended(node.standing(), found, waitingBeside(HolderId.client(extension.id())));
    }

    private Found found(Extension extension) {
        String held = holder();
        if (!held.equals(extension.id())) {
            return held.isEmpty() ? Found.ABSENT : Found.TAKEN;
        }
        if (extension.leaseMillis() == 0) {
            // A look promises nothing, so it sets nothing and uses up no number.
            return Found.HELD;
        }
        if (extension.sequence() < sequence) {
            return Found.SUPERSEDED;
        }
        boolean fresh = extension.sequence() > sequence;
        sequence = extension.sequence();
        long leaseNanos = extension.leaseMillis() * 1_000_000;
        if (!extension.exact()) {
            extendBy(extension.leaseMillis());
        } else if (fresh) {
            expiresNanos = node.nanoTime() + leaseNanos;
        } else if (expiresNanos - node.nanoTime() < leaseNanos) {
            return Found.SUPERSEDED;
        }
        return Found.HELD;
    }

    Released release(String id, boolean wake) {
        boolean held = holder().equals(id);
        if (held) {
            holder = "";
            if (wake) {
                wakeFirst();
            }
        }
        return new Released(node.standing(), held, waitingBeside(HolderId.client(id)));
    }

    boolean leave(String clientId) {
        return waiting.remove(clientId) != null;
    }

    Written commit(String id, long token) {
        boolean accepted = register.admits(token, id);
        register = register.write(token, id);
        return new Written(node.standing(), accepted, register.token());
    }

    Seen inspect() {
        return new Seen(node.standing(), holder(), isHeld() ? remainingMillis() : 0, register, waitingBeside(""));
    }

    ForceReply forceRelease(@Nullable String expected) {
        String held = holder();
        if (held.isEmpty()) {
            return new ForceReply.Free();
        }
        if (expected != null && !held.equals(expected) && !held.startsWith(expected + "~")) {
            return new ForceReply.HeldBy(held);
        }
        holder = "";
        node.send(HolderId.client(held), listener -> listener.forced(name, held));
        wakeFirst();
        return new ForceReply.Ended(held);
    }

    private void wait(String client, long waitMillis, String held) {
        boolean first = waitingBeside(client) == 0 && !waiting.containsKey(client);
        waiting.put(client, node.nanoTime() + 3 * waitMillis * 1_000_000);
        if (first) {
            node.send(HolderId.client(held), listener -> listener.contended(name, held));
        }
    }

    /** Wakes the first few clients that are still connected. */
    private void wakeFirst() {
        dropDead();
        int rank = 0;
        Iterator<String> clients = waiting.keySet().iterator();
        while (clients.hasNext() && rank < MemoryQuorumNode.WOKEN) {
            int own = rank;
            if (node.send(clients.next(), (QuorumMember.Listener listener) -> listener.released(name, own))) {
                rank++;
            } else {
                clients.remove();
            }
        }
    }

    private int waitingBeside(String client) {
        dropDead();
        return waiting.size() - (waiting.containsKey(client) ? 1 : 0);
    }

    private void dropDead() {
        long now = node.nanoTime();
        waiting.values().removeIf(until -> now - until >= 0);
    }

    private String holder() {
        if (!holder.isEmpty() && node.nanoTime() - expiresNanos >= 0) {
            holder = "";
        }
        return holder;
    }

    private void extendBy(long leaseMillis) {
        expiresNanos = Math.max(expiresNanos, node.nanoTime() + leaseMillis * 1_000_000);
    }

    private long remainingMillis() {
        return Math.max(1, (expiresNanos - node.nanoTime()) / 1_000_000);
    }
}
