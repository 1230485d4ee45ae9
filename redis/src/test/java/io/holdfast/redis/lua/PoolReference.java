package io.holdfast.redis.lua;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Map.Entry;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the scripts of a pool must do, in plain Java. All entries, holders and waiters, are in the order of their
 * tickets. An entry fits if the weights up to and including its own are at most the capacity of its own request. An
 * entry holds when it and every entry before it fit.
 *
 * <p>As at the server, a hold whose time has passed counts until a command that serves removes it. A reply is a text;
 * it names no base, because the server chooses that.
 */
final class PoolReference {

    private static final long NO_NONCE = -1;

    record Request(
            String id,
            int weight,
            int capacity,
            long lease,
            @Nullable Long poll,
            long nonce) {}

    private record Waiting(Request request, long stamp, long nonce) {}

    static final class Hold {
        final int weight;
        long ends;
        long settings;

        Hold(int weight, long ends) {
            this.weight = weight;
            this.ends = ends;
        }
    }

    /** Also holds whose time has passed and that were not removed yet. */
    final Map<String, Hold> holds = new LinkedHashMap<>();

    private final LinkedHashMap<String, Waiting> queue = new LinkedHashMap<>();
    private final Set<String> deaf;
    private final boolean pushes;

    /** The messages of the last command, without bases. */
    final List<String> messages = new ArrayList<>();

    /** The ids that the last command granted to, in the order of their bases. */
    final List<String> granted = new ArrayList<>();

    private final Map<String, Waiting> told = new LinkedHashMap<>();
    /** When the keys of the holds expire: a second after the latest end that any of them had. */
    private long expiry;

    private long now;

    /** @param deaf the ids that do not listen now */
    PoolReference(Set<String> deaf, boolean pushes, long now) {
        this.deaf = deaf;
        this.now = now;
        this.pushes = pushes;
    }

    String acquire(Request request, boolean late) {
        begin();
        if (late) {
            return "late";
        }
        boolean purged = purge();
        Hold held = holds.get(request.id());
        if (held != null) {
            if (held.settings == 0) {
                held.ends = Math.max(held.ends, now + request.lease());
                keep(held.ends);
            }
            if (purged && pushes) {
                serve(null);
            }
            return end("held " + queue.size());
        }
        return end(take(request));
    }

    private String take(Request request) {
        purge();
        serve(request);
        if (holds.containsKey(request.id())) {
            return "held " + queue.size();
        }
        if (queue.isEmpty() && used() + request.weight() <= request.capacity()) {
            hold(request, request.lease());
            return "held " + queue.size();
        }
        int ahead = new ArrayList<>(queue.keySet()).indexOf(request.id());
        ahead = ahead < 0 ? queue.size() : ahead;
        if (request.poll() != null) {
            if (queue.isEmpty()) {
                tellHolders(request.weight() == request.capacity());
            }
            // A new value of a key that is there keeps its place.
            queue.put(
                    request.id(),
                    new Waiting(request, now, deaf.contains(request.id()) || !pushes ? NO_NONCE : request.nonce()));
        }
        String first = first();
        return "busy " + (holds.get(first).ends - now) + " " + ahead + " " + first;
    }

    private void tellHolders(boolean all) {
        if (pushes && (all || holds.size() == 1)) {
            byEnd().forEach(held -> messages.add("c " + held.getKey()));
        }
    }

    String release(String id, @Nullable Request requeue, boolean late) {
        begin();
        Hold removed = holds.remove(id);
        if (removed == null) {
            return end("no");
        }
        if (removed.ends <= now) {
            purgeAndServe();
            return end("no");
        }
        if (requeue == null || late) {
            return end((late && requeue != null ? "released late " : "released ") + purgeAndServe());
        }
        return end(take(requeue));
    }

    String abandon(String id) {
        begin();
        Hold removed = holds.remove(id);
        if (queue.remove(id) == null && removed == null) {
            return end("no");
        }
        return end((removed != null && removed.ends > now ? "released " : "left ") + purgeAndServe());
    }

    String force(@Nullable String expected) {
        begin();
        purge();
        if (holds.isEmpty()) {
            purgeAndServe();
            return end("no");
        }
        String first = first();
        if (expected != null && !holds.containsKey(expected)) {
            return end("other " + first);
        }
        List<String> ended = expected != null
                ? List.of(expected)
                : byEnd().map(Entry::getKey).toList();
        if (pushes) {
            ended.forEach(id -> messages.add("f " + id));
        }
        ended.forEach(holds::remove);
        return end("forced " + purgeAndServe() + " " + (expected == null ? first : expected));
    }

    /** Returns 0, 1 or 2 as the script does. */
    int renew(String id, long lease, long sequence, boolean exact) {
        Hold hold = holds.get(id);
        if (hold == null || hold.ends <= now) {
            return 0;
        }
        if (lease == 0 && !exact) {
            return 1;
        }
        if (sequence < hold.settings) {
            return 2;
        }
        if (exact && sequence == hold.settings) {
            return hold.ends >= now + lease ? 1 : 2;
        }
        hold.settings = sequence;
        hold.ends = exact ? now + lease : Math.max(hold.ends, now + lease);
        keep(hold.ends);
        return 1;
    }

    private void keep(long end) {
        expiry = Math.max(expiry, end + 1_000);
    }

    /** Returns after how long the keys of the holds expire. */
    long expiresIn() {
        return expiry - now;
    }

    void setTime(long millis) {
        now = millis;
        if (now >= expiry) {
            holds.clear();
        }
    }

    String inspect() {
        List<Entry<String, Hold>> live =
                byEnd().filter(held -> held.getValue().ends > now).toList();
        StringBuilder text = new StringBuilder("waiting ")
                .append(queue.values().stream().filter(this::isAlive).count());
        text.append(" used ")
                .append(live.stream().mapToInt(held -> held.getValue().weight).sum());
        live.forEach(held -> text.append(' ')
                .append(held.getKey())
                .append(' ')
                .append(held.getValue().weight)
                .append(' ')
                .append(held.getValue().ends - now));
        return text.toString();
    }

    int queued() {
        return queue.size();
    }

    /** Returns the stamps of the queue in its order, each as "id weight:capacity stamp:poll:lease:nonce". */
    List<String> stamps() {
        return queue.values().stream()
                .map(waiting -> waiting.request.id() + " " + waiting.request.weight() + ":"
                        + waiting.request.capacity() + " " + waiting.stamp + ":" + waiting.request.poll() + ":"
                        + waiting.request.lease() + ":" + nonce(waiting.nonce))
                .toList();
    }

    /** Forgets all holds, as when the server evicts one of the keys. */
    void evict() {
        holds.clear();
    }

    /** Forgets the messages and the grants of the command before. */
    void begin() {
        messages.clear();
        granted.clear();
        told.clear();
    }

    private String end(String reply) {
        told.values()
                .forEach(waiting -> messages.add("g " + waiting.request.id() + " " + queue.size() + " "
                        + Math.min(waiting.request.lease(), 3 * poll(waiting)) + " " + nonce(waiting.nonce) + " "
                        + (now - waiting.stamp)));
        return reply;
    }

    /** Returns the id that the caller should notify. */
    private String purgeAndServe() {
        return serve(null);
    }

    private String serve(@Nullable Request asker) {
        if (!queue.isEmpty()) {
            purge();
        }
        while (!queue.isEmpty()) {
            Waiting next = queue.values().iterator().next();
            String id = next.request.id();
            boolean asks = false;
            Request request = next.request;
            if (asker != null && asker.id().equals(id)) {
                asks = true;
                request = asker;
            } else if (!isAlive(next)) {
                queue.remove(id);
                continue;
            }
            if (used() + request.weight() > request.capacity()) {
                break;
            }
            if (!pushes && asker == null) {
                return id;
            }
            queue.remove(id);
            if (asks) {
                hold(request, request.lease());
            } else if (!pushes || !deaf.contains(id)) {
                hold(request, Math.min(request.lease(), 3 * poll(next)));
                if (pushes) {
                    told.put(id, next);
                }
            }
        }
        return "";
    }

    private boolean purge() {
        return holds.values().removeIf(hold -> hold.ends <= now);
    }

    private void hold(Request request, long lease) {
        if (holds.isEmpty()) {
            expiry = 0;
        }
        keep(now + lease);
        holds.put(request.id(), new Hold(request.weight(), now + lease));
        granted.add(request.id());
    }

    int used() {
        return holds.values().stream().mapToInt(hold -> hold.weight).sum();
    }

    private boolean isAlive(Waiting waiting) {
        return now - waiting.stamp <= 3 * poll(waiting);
    }

    private String first() {
        return byEnd().findFirst().orElseThrow().getKey();
    }

    /** Returns the holds by their ends, and by their ids where ends are equal. */
    private Stream<Entry<String, Hold>> byEnd() {
        return holds.entrySet().stream()
                .sorted(Comparator.comparingLong((Entry<String, Hold> held) -> held.getValue().ends)
                        .thenComparing(Entry::getKey));
    }

    private static long poll(Waiting waiting) {
        Long poll = waiting.request.poll();
        return poll == null ? 0 : poll;
    }

    private static String nonce(long nonce) {
        return nonce == NO_NONCE ? "-1" : Long.toString(nonce, 36);
    }
}
