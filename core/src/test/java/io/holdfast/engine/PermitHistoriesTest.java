package io.holdfast.engine;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.Permits;
import io.holdfast.engine.ProbeStore.Fate;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;

/**
 * Random histories of three clients: weights, lost and late commands, lost messages, callers that leave. After each step
 * the valid permits are within the limit; in the end, when everything works, each waiter is granted.
 */
class PermitHistoriesTest extends EngineFixture {

    private static final int LIMIT = 5;
    private static final int STEPS = 200;

    /** Of a roll-out: in some histories, some requests have this limit. */
    private static final int LOWER = 3;

    private record Asked(CompletableFuture<Lease> stage, int weight, int limit) {

        boolean isHeld() {
            return stage.isDone()
                    && !stage.isCompletedExceptionally()
                    && LeaseHandle.active(stage.join()).isHeldNow();
        }
    }

    private final List<ProbeStore> stores = new ArrayList<>(List.of(store));
    private final List<LockClient> callers = new ArrayList<>(List.of(client));
    private boolean rollsOut;
    private final List<Asked> asked = new ArrayList<>();
    private final List<String> steps = new ArrayList<>();

    @RepeatedTest(300)
    void the_valid_permits_are_within_the_limit_and_nobody_waits_for_ever(RepetitionInfo run) {
        long seed = Long.getLong("seed", run.getCurrentRepetition());
        Random random = new Random(seed);
        for (String id : List.of("two", "three")) {
            ProbeStore behind = probe(id);
            stores.add(behind);
            callers.add(client(id, behind, settings -> {}));
        }
        rollsOut = random.nextInt(3) == 0;
        stores.forEach(each -> requireNonNull(each.pools).details = random.nextBoolean());
        try {
            for (int i = 0; i < STEPS; i++) {
                step(random);
                assertWithinLimit();
            }
            settle();
        } catch (AssertionError e) {
            throw new AssertionError(
                    "-Dseed=" + seed + ", the last steps:\n"
                            + String.join("\n", steps.subList(Math.max(0, steps.size() - 40), steps.size())),
                    e);
        }
    }

    private void step(Random random) {
        int at = random.nextInt(stores.size());
        ProbeStore pool = requireNonNull(stores.get(at).pools);
        switch (random.nextInt(12)) {
            case 0, 1, 2 -> {
                int limit = rollsOut && random.nextBoolean() ? LOWER : LIMIT;
                int weight = 1 + random.nextInt(random.nextInt(4) == 0 ? limit : 2);
                Permits permits = callers.get(at).permits("export", limit).weight(weight);
                LockOptions options = switch (random.nextInt(4)) {
                    case 0 -> DEFAULTS.waitAtMost(Duration.ofMillis(random.nextInt(3_000)));
                    case 1 -> DEFAULTS.leaseFor(Duration.ofMillis(100 + random.nextInt(4_000)));
                    default -> DEFAULTS;
                };
                note("client " + at + " asks for " + permits + ", " + options);
                asked.add(new Asked(permits.acquireAsync(options).toCompletableFuture(), weight, limit));
            }
            case 3, 4, 5 -> {
                List<Asked> held = asked.stream().filter(Asked::isHeld).toList();
                if (!held.isEmpty()) {
                    Lease lease = held.get(random.nextInt(held.size())).stage.join();
                    note("releases " + lease);
                    var unused = lease.releaseAsync();
                }
            }
            case 6 -> {
                List<Asked> waiting =
                        asked.stream().filter(each -> !each.stage.isDone()).toList();
                if (!waiting.isEmpty()) {
                    note("a caller leaves");
                    waiting.get(random.nextInt(waiting.size())).stage.cancel(false);
                }
            }
            case 7 -> {
                Fate fate = List.of(Fate.values()).get(random.nextInt(Fate.values().length));
                note("client " + at + ": acquires and releases " + fate);
                pool.acquires = fate;
                pool.releases = fate == Fate.REQUEST_FAILS ? Fate.REQUEST_HELD : fate;
                pool.abandons = pool.releases;
            }
            case 8 -> {
                pool.messages = random.nextInt(3) > 0;
                pool.renews = random.nextInt(4) == 0 ? Fate.FAIL : Fate.PASS;
                note("client " + at + ": messages " + pool.messages + ", renewals " + pool.renews);
            }
            case 9 -> {
                note("client " + at + ": what was held arrives");
                pool.deliverRequests();
                pool.deliverReplies();
            }
            default -> {
                int millis = random.nextInt(random.nextInt(5) == 0 ? 4_000 : 50);
                note(millis + " ms pass");
                advance(millis);
            }
        }
    }

    private void note(String step) {
        steps.add(step);
    }

    /** The youngest permit decides: it was granted beside all others, and a lower limit ends none of them. */
    private void assertWithinLimit() {
        List<Asked> held = asked.stream().filter(Asked::isHeld).toList();
        int used = held.stream().mapToInt(Asked::weight).sum();
        held.stream()
                .max(Comparator.comparingLong(each -> each.stage.join().fencingToken()))
                .ifPresent(youngest ->
                        assertThat(used).as("weight of the valid permits").isLessThanOrEqualTo(youngest.limit));
    }

    /** Everything works again: the waiters are granted one after the other, and nothing is left. */
    private void settle() {
        note("everything works again");
        for (ProbeStore each : stores) {
            ProbeStore pool = requireNonNull(each.pools);
            pool.acquires = Fate.PASS;
            pool.releases = Fate.PASS;
            pool.abandons = Fate.PASS;
            pool.renews = Fate.PASS;
            pool.messages = true;
            pool.deliverRequests();
            pool.deliverReplies();
        }
        for (int i = 0; i < 4_000 && asked.stream().anyMatch(each -> !each.stage.isDone() || each.isHeld()); i++) {
            asked.stream().filter(Asked::isHeld).toList().forEach(each -> {
                var unused = each.stage.join().releaseAsync();
            });
            advance(20);
            assertWithinLimit();
        }
        assertThat(asked).allMatch(each -> each.stage.isDone());
        advance(60_000);
        LockStore server = requireNonNull(stores.get(0).pools).server;
        assertThat(server.inspect("p:export").toCompletableFuture().join()).isEqualTo(StoreState.free(0));
    }
}
