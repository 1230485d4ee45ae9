package io.holdfast.quorum.memory;

import io.holdfast.quorum.QuorumMember;
import io.holdfast.quorum.TokenRegister;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A member of a quorum in this process: the reference implementation of a member. For tests, the member can be
 * restarted, with its data or without, and its clock can be stepped. Thread-safe.
 *
 * <pre>{@code
 * QuorumStores.Builder quorum = QuorumStores.builder().bootstrap(true);
 * for (String name : List.of("a", "b", "c")) {
 *     MemoryQuorumNode node = new MemoryQuorumNode(name, TimeSource.system());
 *     quorum.member(name, node::connect);
 * }
 * LockClient locks = LockClient.builder().store(quorum::open).build();
 * }</pre>
 *
 * <p>Each command runs on the calling thread and its stage is complete on return; the time source delivers messages.
 */
public final class MemoryQuorumNode {

    /** The number of waiting clients that receive a release. */
    static final int WOKEN = 3;

    private final String description;
    private final TimeSource time;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, MemoryQuorumName> names = new HashMap<>(); // by lock
    private final Map<String, MemoryQuorumMember> clients = new HashMap<>(); // by lock
    private long steppedNanos; // by lock
    private String serverId = UUID.randomUUID().toString(); // by lock
    private String birth = ""; // by lock; as "<uuid>:<server id>"
    private long votesFromNanos; // by lock
    private long keptSinceNanos; // by lock

    public MemoryQuorumNode(String description, TimeSource time) {
        this.description = description;
        this.time = time;
        this.keptSinceNanos = time.nanoTime();
    }

    /** Opens a client's view. */
    public QuorumMember connect(StoreContext context) {
        MemoryQuorumMember member = new MemoryQuorumMember(this, context.clientId());
        locked(() -> clients.put(context.clientId(), member));
        return member;
    }

    /** Restarts as after a crash without persistence: holds, registers and birth are gone. */
    public void restartEmpty() {
        locked(() -> {
            names.clear();
            birth = "";
            return null;
        });
        restart();
    }

    /** Restarts as after a crash with persistence: the data are there, but some may be missing. */
    public void restart() {
        locked(() -> {
            serverId = UUID.randomUUID().toString();
            keptSinceNanos = nanoTime();
            clients.values().forEach(client -> deliver(client, QuorumMember.Listener::reconnected));
            return null;
        });
    }

    /** Deletes all data; the process continues. */
    public void flush() {
        locked(() -> {
            names.clear();
            birth = "";
            keptSinceNanos = nanoTime();
            return null;
        });
    }

    /** Deletes a name's hold and register, as by an eviction, or a crash before they were written. */
    public void forget(String name) {
        locked(() -> names.remove(name));
    }

    /** Steps the clock. Forward, holds end early; back, they last longer. */
    public void stepClock(Duration step) {
        locked(() -> {
            steppedNanos += step.toNanos();
            return null;
        });
    }

    /** Returns how many names have a hold. */
    public int size() {
        return locked(() ->
                (int) names.values().stream().filter(MemoryQuorumName::isHeld).count());
    }

    /** Returns the register of a name. */
    public TokenRegister register(String name) {
        return locked(() -> name(name).register());
    }

    // --- for its members and names, under the lock ---

    <T> CompletionStage<T> execute(Supplier<T> command) {
        return CompletableFuture.completedFuture(locked(command));
    }

    <T> T locked(Supplier<T> body) {
        lock.lock();
        try {
            return body.get();
        } finally {
            lock.unlock();
        }
    }

    MemoryQuorumName name(String name) {
        return names.computeIfAbsent(name, n -> new MemoryQuorumName(this, n));
    }

    long nanoTime() {
        return time.nanoTime() + steppedNanos;
    }

    QuorumMember.Standing standing() {
        return new QuorumMember.Standing(birth, Math.max(0, votesFromNanos - nanoTime() + 999_999) / 1_000_000);
    }

    QuorumMember.Identity identity() {
        boolean ofThisLife = birth.endsWith(":" + serverId);
        return new QuorumMember.Identity(
                serverId,
                "",
                ofThisLife ? standing() : new QuorumMember.Standing("", 0),
                (nanoTime() - keptSinceNanos) / 1_000_000,
                List.of());
    }

    QuorumMember.Standing admit(long quarantineMillis) {
        if (!birth.endsWith(":" + serverId)) {
            birth = UUID.randomUUID() + ":" + serverId;
            votesFromNanos = nanoTime() + quarantineMillis * 1_000_000;
        }
        return standing();
    }

    /** Sends a message to a client. Returns false if that client is not connected. */
    boolean send(String clientId, Consumer<QuorumMember.Listener> message) {
        MemoryQuorumMember client = clients.get(clientId);
        if (client == null) {
            return false;
        }
        deliver(client, message);
        return true;
    }

    void disconnect(String clientId, MemoryQuorumMember member) {
        locked(() -> clients.remove(clientId, member));
    }

    String describe() {
        return description;
    }

    /** Delivers a message later, because the sender's caller may hold locks that the receiver needs. */
    private void deliver(MemoryQuorumMember client, Consumer<QuorumMember.Listener> message) {
        time.schedule(0, () -> {
            QuorumMember.Listener receiver = client.listener();
            if (receiver != null) {
                message.accept(receiver);
            }
        });
    }
}
