package io.holdfast.sql;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * What this client knows of its holds: the base, by which a statement finds the row at once. Forgetting one costs a
 * read, no more. Thread-safe.
 */
final class Holds {

    /** More than a client holds; the engine ends each hold, so only a defect could fill it. */
    private static final int MOST = 100_000;

    /**
     * A hold.
     *
     * @param contended the {@link Row#contended} that the holder has heard of
     */
    record Held(String name, String key, String holderId, boolean pool, long base, long contended) {

        Held told(long count) {
            return new Held(name, key, holderId, pool, base, count);
        }
    }

    private final Map<String, Held> byId = new ConcurrentHashMap<>();

    /** The ids that wait in a queue, as far as this client knows. */
    private final Set<String> waiting = ConcurrentHashMap.newKeySet();

    void put(Held held) {
        waiting.remove(held.holderId());
        if (byId.size() < MOST) {
            byId.put(held.holderId(), held);
        }
    }

    void waits(String holderId) {
        if (waiting.size() < MOST) {
            waiting.add(holderId);
        }
    }

    /** Takes note of a hold of which a message tells. It may come after the end of the hold, which is not known then. */
    void putIfWaiting(Held held) {
        if (waiting.remove(held.holderId())) {
            put(held);
        }
    }

    /** Takes note that an id has come to its end. Returns its hold; null if it is unknown. */
    @Nullable
    Held end(String key, String holderId) {
        waiting.remove(holderId);
        return remove(key, holderId);
    }

    /** Returns the ids that hold or wait. */
    Set<String> ids() {
        Set<String> ids = new HashSet<>(waiting);
        ids.addAll(byId.keySet());
        return ids;
    }

    /** Returns the hold of an id on this key; null if it is unknown. */
    @Nullable
    Held get(String key, String holderId) {
        Held held = byId.get(holderId);
        return held != null && held.key().equals(key) ? held : null;
    }

    @Nullable
    Held remove(String key, String holderId) {
        Held held = get(key, holderId);
        return held != null && byId.remove(holderId, held) ? held : null;
    }

    /** Returns whether the hold was there as it is, and replaces it by another one, or by none. */
    boolean replace(Held held, @Nullable Held other) {
        return other == null ? byId.remove(held.holderId(), held) : byId.replace(held.holderId(), held, other);
    }

    List<Held> all() {
        return List.copyOf(byId.values());
    }
}
