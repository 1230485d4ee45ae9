package io.holdfast.redis.lua;

import io.holdfast.redis.lua.PoolReference.Request;
import io.holdfast.redis.lua.PoolScriptServer.Outcome;
import io.holdfast.redis.lua.PoolScriptServer.Stored;
import io.holdfast.testkit.servers.RespClient;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Two pools, four clients, and random commands, each given to the scripts and to the reference. Ends at the first
 * difference.
 */
final class PoolScriptRun {

    private static final int STEPS = 100;
    private static final long POLL = 200;
    private static final long LEASE_MAX = 2_000;

    private final long seed;
    private final Random random;
    private final PoolScriptServer scripts;
    private final Set<String> deaf = new HashSet<>();
    private final List<PoolReference> pools = new ArrayList<>();
    private final Map<String, Boolean> deafClients = new HashMap<>();
    private final Map<String, Request> requests = new HashMap<>();
    private final List<List<String>> ids = new ArrayList<>();
    private final Map<String, String> bases = new HashMap<>();
    private final int capacity;
    private long lastBase;
    private long now = 1_700_000_000_000L;
    private @Nullable String difference;
    private final List<String> steps = new ArrayList<>();

    PoolScriptRun(long seed, PoolScriptServer scripts, boolean pushes) throws IOException {
        this.seed = seed;
        this.random = new Random(seed);
        this.scripts = scripts;
        this.capacity = 1 + random.nextInt(5);
        for (int i = 0; i < PoolScriptServer.POOLS.size(); i++) {
            pools.add(new PoolReference(deaf, pushes, now));
            ids.add(new ArrayList<>());
        }
        scripts.flush();
    }

    Optional<String> difference() throws IOException {
        try {
            for (int step = 0; step < STEPS && difference == null; step++) {
                step(random.nextInt(4) == 0 ? 1 : 0);
            }
            if (difference == null) {
                end();
            }
        } catch (RespClient.ErrorReply e) {
            difference = "the server says " + e.getMessage();
        }
        if (difference == null) {
            return Optional.empty();
        }
        return Optional.of("seed " + seed + ", step " + steps.size() + ": " + difference + "\n  "
                + String.join("\n  ", steps.subList(Math.max(0, steps.size() - 12), steps.size())));
    }

    private void step(int pool) throws IOException {
        pools.forEach(PoolReference::begin);
        String id = anyId(pool);
        switch (random.nextInt(16)) {
            case 0, 1 -> acquire(pool, newRequest(pool, false), false);
            case 2, 3, 4 -> acquire(pool, newRequest(pool, true), random.nextInt(20) == 0);
            case 5, 6 -> acquire(pool, again(requests.get(id)), random.nextInt(20) == 0);
            case 7, 8 -> release(pool, id, null, false);
            case 9 -> release(pool, id, newRequest(pool, true), random.nextInt(10) == 0);
            case 10 -> abandon(pool, id);
            case 11, 12 -> renew();
            case 13 -> rare(pool, id);
            // Leases are multiples of ten: now and then, a millisecond before one ends.
            default -> advance(random.nextInt(5) == 0 ? 300 : 10 + random.nextInt(7) * 10 - random.nextInt(2));
        }
    }

    private void rare(int pool, String id) throws IOException {
        switch (random.nextInt(4)) {
            case 0 -> force(pool, random.nextBoolean() ? null : id);
            case 1 -> {
                String client = "hf-" + random.nextInt(4);
                boolean now = random.nextBoolean();
                scripts.setDeaf(client, now);
                for (String each : requests.keySet()) {
                    if (each.startsWith(client + ":")) {
                        hear(each, now);
                    }
                }
                deafClients.put(client, now);
                steps.add(client + (now ? " is deaf" : " listens"));
            }
            case 2 -> evict(pool);
            default -> inspect(pool);
        }
    }

    private void hear(String id, boolean isDeaf) {
        if (isDeaf) {
            deaf.add(id);
        } else {
            deaf.remove(id);
        }
    }

    private void acquire(int pool, Request request, boolean late) throws IOException {
        String expected = pools.get(pool).acquire(request, late);
        Outcome outcome = run(
                LuaScript.POOL_ACQUIRE,
                pool,
                request.id(),
                "" + request.lease(),
                notAfter(late),
                place(request),
                "" + request.weight(),
                "" + request.capacity());
        checkState(outcome);
        same("reply", expected, acquired(outcome.reply(), request.id()));
    }

    private String acquired(List<?> reply, String id) {
        return switch (((Long) reply.get(0)).intValue()) {
            case 1, 2 -> {
                same("base in the reply", bases.get(id), "" + reply.get(2));
                yield "held " + reply.get(3);
            }
            case 0, 3 -> "busy " + reply.get(2) + " " + reply.get(3) + " " + reply.get(5);
            case -1 -> "late";
            default -> "" + reply;
        };
    }

    private void release(int pool, String id, @Nullable Request requeue, boolean late) throws IOException {
        String expected = pools.get(pool).release(id, requeue, late);
        Outcome outcome = requeue == null
                ? run(LuaScript.POOL_RELEASE, pool, id)
                : run(
                        LuaScript.POOL_RELEASE,
                        pool,
                        id,
                        requeue.id(),
                        "" + requeue.lease(),
                        place(requeue),
                        notAfter(late),
                        "" + requeue.weight(),
                        "" + requeue.capacity());
        checkState(outcome);
        List<?> reply = outcome.reply();
        String actual = switch (((Long) reply.get(0)).intValue()) {
            case 0 -> "no";
            case 1 -> "released " + reply.get(1);
            case 4 -> "released late " + reply.get(1);
            default -> acquired(reply, Objects.requireNonNull(requeue).id());
        };
        same("reply", expected, actual);
    }

    private void abandon(int pool, String id) throws IOException {
        String expected = pools.get(pool).abandon(id);
        Outcome outcome = run(LuaScript.POOL_ABANDON, pool, id);
        checkState(outcome);
        List<?> reply = outcome.reply();
        same(
                "reply",
                expected,
                reply.get(0).equals(0L) ? "no" : (reply.get(0).equals(1L) ? "released " : "left ") + reply.get(1));
    }

    private void force(int pool, @Nullable String expectedHolder) throws IOException {
        String expected = pools.get(pool).force(expectedHolder);
        Outcome outcome = expectedHolder == null
                ? run(LuaScript.POOL_FORCE, pool)
                : run(LuaScript.POOL_FORCE, pool, expectedHolder);
        checkState(outcome);
        List<?> reply = outcome.reply();
        String actual = switch (((Long) reply.get(0)).intValue()) {
            case 0 -> "no";
            case 1 -> "forced " + reply.get(1) + " " + reply.get(3);
            default -> "other " + reply.get(1);
        };
        same("reply", expected, actual);
    }

    private void inspect(int pool) throws IOException {
        Outcome outcome = run(LuaScript.POOL_INSPECT, pool);
        List<?> reply = outcome.reply();
        StringBuilder text = new StringBuilder("waiting " + reply.get(3) + " used " + reply.get(5));
        List<?> holders = (List<?>) reply.get(6);
        List<?> numbers = (List<?>) reply.get(7);
        for (int i = 0; i < holders.size(); i++) {
            text.append(" " + holders.get(i) + " " + numbers.get(3 * i) + " " + numbers.get(3 * i + 1));
            same("base", bases.get(holders.get(i)), "" + numbers.get(3 * i + 2));
        }
        same("reply", pools.get(pool).inspect(), text.toString());
    }

    /** Several holds of both pools by one command, which gives each its own answer. */
    private void renew() throws IOException {
        int holds = 1 + random.nextInt(3);
        long lease = random.nextInt(5) == 0 ? 0 : lease();
        long sequence = random.nextInt(3);
        boolean exact = lease > 0 && sequence > 0 && random.nextBoolean();
        boolean counted = random.nextBoolean();
        List<String> keys = new ArrayList<>();
        List<Integer> of = new ArrayList<>();
        List<Integer> sizes = new ArrayList<>();
        List<String> all = new ArrayList<>();
        List<Object> others = new ArrayList<>();
        List<Object> waiting = new ArrayList<>();
        for (int i = 1; i <= holds; i++) {
            int pool = random.nextInt(2);
            if (of.isEmpty() || of.get(of.size() - 1) != pool || random.nextInt(4) == 0) {
                of.add(pool);
                sizes.add(0);
            }
            sizes.set(sizes.size() - 1, sizes.get(sizes.size() - 1) + 1);
            // No command has an id twice: a setting of a hold is sent once at a time.
            String known = anyId(pool);
            String id = all.contains(known) ? newRequest(pool, true).id() : known;
            all.add(id);
            int code = pools.get(pool).renew(id, lease, sequence, exact);
            if (code != 1) {
                others.add((long) i);
                others.add((long) code);
            }
            if (counted) {
                waiting.add((long) pools.get(pool).queued());
            }
        }
        of.forEach(pool -> keys.add(PoolScriptServer.KEYS.poolHolds(name(pool))));
        of.forEach(pool -> keys.add(PoolScriptServer.KEYS.poolEnds(name(pool))));
        if (counted) {
            of.forEach(pool -> keys.add(PoolScriptServer.KEYS.poolQueue(name(pool))));
        }
        List<String> args = new ArrayList<>(List.of("" + lease, "" + sequence, exact ? "1" : "0", "" + of.size()));
        sizes.forEach(size -> args.add("" + size));
        args.addAll(all);
        LuaScript script = holds == 1 && random.nextBoolean() ? LuaScript.POOL_RENEW_ONE : LuaScript.POOL_RENEW;
        Outcome outcome = run(script, keys, args.toArray(String[]::new));
        checkState(outcome);
        List<?> reply = outcome.reply();
        same("reply", "" + others + waiting, "" + reply.get(1) + (counted ? reply.get(2) : "[]"));
    }

    /** The server evicts one of the keys. The next acquire finds that out. */
    private void evict(int pool) throws IOException {
        String[] keys = PoolScriptServer.KEYS.ofPool(name(pool));
        String key = keys[random.nextBoolean() ? 0 : 3];
        steps.add("evicted " + key);
        scripts.delete(key);
        pools.get(pool).evict();
        acquire(pool, newRequest(pool, false), false);
    }

    /** All that is over leaves no key. */
    private void end() throws IOException {
        advance(LEASE_MAX + 1_001);
        // Any command lets the server look at all keys.
        inspect(0);
        Set<String> queues = new TreeSet<>(scripts.keys());
        queues.removeIf(key -> key.startsWith("holdfast:o:") || key.equals("holdfast:b"));
        same("keys at the end", "[]", "" + queues);
        advance(5 * POLL + 60_000);
        inspect(0);
        Set<String> left = new TreeSet<>(scripts.keys());
        left.remove("holdfast:b");
        same("keys after the queues' time", "[]", "" + left);
    }

    private void advance(long millis) {
        steps.add("+" + millis + " ms");
        now += millis;
        pools.forEach(pool -> pool.setTime(now));
    }

    private Outcome run(LuaScript script, int pool, String... args) throws IOException {
        return run(script, List.of(PoolScriptServer.KEYS.ofPool(name(pool))), args);
    }

    private Outcome run(LuaScript script, List<String> keys, String... args) throws IOException {
        Outcome outcome;
        try {
            outcome = scripts.run(script, now, keys.toArray(String[]::new), args);
        } catch (RespClient.ErrorReply e) {
            steps.add(script + " " + keys.get(0) + " " + List.of(args));
            throw e;
        }
        steps.add(
                script + " " + keys.get(0) + " " + List.of(args) + " -> " + outcome.reply() + " " + outcome.messages());
        return outcome;
    }

    private void checkState(Outcome outcome) {
        for (int i = 0; i < pools.size(); i++) {
            checkPool(name(i), pools.get(i), outcome.pools().get(i));
        }
        checkBases(outcome);
        checkMessages(outcome);
    }

    private void checkPool(String name, PoolReference expected, Stored actual) {
        Map<String, String> holds = new TreeMap<>();
        Map<String, Long> ends = new TreeMap<>();
        int sum = 0;
        for (Map.Entry<String, String> field : actual.holds().entrySet()) {
            if (!field.getKey().equals("used")) {
                String value = field.getValue();
                sum += Integer.parseInt(value.substring(0, value.indexOf(':')));
                holds.put(field.getKey(), value.replaceFirst("\\d+$", ""));
            }
        }
        same(name + ": used", "" + sum, actual.holds().getOrDefault("used", "0"));
        same(
                name + ": ids in both keys",
                "" + holds.keySet(),
                "" + new TreeSet<>(actual.ends().keySet()));

        Map<String, String> expectedHolds = new TreeMap<>();
        expected.holds.forEach((id, hold) -> {
            expectedHolds.put(id, hold.weight + (hold.settings == 0 ? ":b" : ":s" + hold.settings + ":"));
            ends.put(id, hold.ends);
        });
        same(name + ": holds", "" + expectedHolds, "" + holds);
        same(name + ": ends", "" + ends, "" + new TreeMap<>(actual.ends()));

        same(name + ": queue", "" + expected.stamps(), "" + stamps(actual.queue()));
        if (!holds.isEmpty()) {
            same(name + ": the hash expires in", "" + expected.expiresIn(), "" + actual.holdsExpireIn());
            same(name + ": the ends expire in", "" + expected.expiresIn(), "" + actual.endsExpireIn());
        }
        check(name + ": the queue expires", actual.queue().isEmpty() || actual.queueExpiresIn() > 0);
    }

    /** Returns the stamps as the reference writes them; the stored queue has ids and stamps in turn. */
    private static List<String> stamps(List<String> queue) {
        List<String> stamps = new ArrayList<>();
        for (int i = 0; i + 1 < queue.size(); i += 2) {
            String[] parts = queue.get(i + 1).split(":", -1);
            stamps.add(queue.get(i) + " " + parts[5] + ":" + parts[6] + " " + parts[1] + ":" + parts[2] + ":" + parts[3]
                    + ":" + parts[4]);
        }
        return stamps;
    }

    /** Bases grow in the order of the grants, and a hold keeps its own. */
    private void checkBases(Outcome outcome) {
        Map<String, String> stored = new HashMap<>();
        for (Stored pool : outcome.pools()) {
            pool.holds().forEach((id, value) -> stored.put(id, value.replaceFirst("^.*?(\\d+)$", "$1")));
        }
        for (PoolReference pool : pools) {
            for (String id : pool.granted) {
                String base = stored.get(id);
                if (base != null) {
                    check("base of " + id + ": " + base + " after " + lastBase, Long.parseLong(base) > lastBase);
                    lastBase = Math.max(lastBase, Long.parseLong(base));
                    bases.put(id, base);
                }
            }
        }
        stored.remove("used");
        stored.forEach((id, base) -> same("base of " + id, bases.get(id), base));
    }

    private void checkMessages(Outcome outcome) {
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < pools.size(); i++) {
            for (String message : pools.get(i).messages) {
                String[] words = message.split(" ", 3);
                expected.add(words[0] + " " + words[1]
                        + (words[0].equals("g") ? " " + bases.get(words[1]) + " " + words[2] : "") + " "
                        + PoolScriptServer.KEYS.poolHolds(name(i)));
            }
        }
        same("messages", "" + expected, "" + outcome.messages());
    }

    private void same(String what, @Nullable String expected, String actual) {
        check(what + ": " + actual + " (expected: " + expected + ")", actual.equals(expected));
    }

    private void check(String what, boolean holds) {
        if (!holds && difference == null) {
            difference = what;
        }
    }

    private static String name(int pool) {
        return PoolScriptServer.POOLS.get(pool);
    }

    private static String place(Request request) {
        return request.poll() == null ? "" : request.poll() + ":" + Long.toString(request.nonce(), 36);
    }

    private String notAfter(boolean late) {
        return Long.toString(late ? now - 1 : random.nextBoolean() ? 0 : now);
    }

    private Request newRequest(int pool, boolean queues) {
        String client = "hf-" + random.nextInt(4);
        String id = client + ":" + requests.size();
        // Two limits at once, as when a limit is changed; and sometimes a writer.
        int limit = random.nextInt(6) == 0 ? capacity + 1 : capacity;
        int weight = random.nextInt(5) == 0 ? limit : random.nextInt(4) == 0 ? 1 + random.nextInt(limit) : 1;
        Request request =
                new Request(id, weight, limit, lease(), queues ? POLL : null, random.nextInt(Integer.MAX_VALUE));
        requests.put(id, request);
        ids.get(pool).add(id);
        hear(id, deafClients.getOrDefault(client, false));
        return request;
    }

    /** The same id asks again. */
    private Request again(Request first) {
        return new Request(
                first.id(),
                first.weight(),
                first.capacity(),
                lease(),
                random.nextInt(4) == 0 ? null : (Long) POLL,
                random.nextInt(Integer.MAX_VALUE));
    }

    private long lease() {
        return random.nextInt(8) == 0 ? LEASE_MAX : 20L * (1 + random.nextInt(30));
    }

    /** Returns mostly a recent one: one that holds, waits, or is through. */
    private String anyId(int pool) {
        List<String> all = ids.get(pool);
        return all.isEmpty() ? newRequest(pool, true).id() : all.get(Math.max(0, all.size() - 1 - random.nextInt(10)));
    }
}
