package io.holdfast.verify.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.memory.MemoryLockStore;
import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.PushedGrant;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreListener;
import io.holdfast.spi.StoreState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The simulation's model of the scripts gives the same answers and messages as the in-process store, command by
 * command, and every seeded bug in it shows within a hundred random sequences. The same sequences are played on the
 * in-process store and on real servers by the contract of the stores.
 */
class ScriptModelTest {

    private static final int SEQUENCES = 500;
    private static final int SEQUENCES_FOR_BUGS = 100;
    private static final int STEPS = 200;

    @Test
    void the_model_does_what_the_store_does() {
        for (long seed = 1; seed <= SEQUENCES; seed++) {
            assertThat(new Comparison(seed, ScriptBug.NONE).difference())
                    .as("seed %d", seed)
                    .isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            // The store has no "not after", never loses its data, and its clients always hear it: for the simulation.
            names = {"NONE", "NO_NOT_AFTER", "BASE_WITHOUT_CLOCK", "DEAF_CLIENTS_ARE_GRANTED"})
    void every_seeded_bug_shows(ScriptBug bug) {
        Optional<String> found = LongStream.rangeClosed(1, SEQUENCES_FOR_BUGS)
                .mapToObj(seed -> new Comparison(seed, bug).difference())
                .flatMap(Optional::stream)
                .findFirst();
        System.out.println(bug + ": " + found.orElse("not found"));
        assertThat(found).isPresent();
    }

    /** One random sequence of commands of three clients, given to both. */
    private static final class Comparison {

        private static final String NAME = "name";

        private final long seed;
        private final Random random;
        private final VirtualTime time = new VirtualTime();
        private final MemoryLockStore.Server server = new MemoryLockStore.Server(time);
        private final List<LockStore> clients = new ArrayList<>();
        private final List<String> expectedMessages = new ArrayList<>();
        private final List<String> messages = new ArrayList<>();
        private final ScriptModel model;
        private final Map<Long, Long> bases = new HashMap<>();
        private final Map<Long, Long> basesBack = new HashMap<>();
        private final List<String> ids = new ArrayList<>();
        private @Nullable String difference;

        Comparison(long seed, ScriptBug bug) {
            this.seed = seed;
            random = new Random(seed);
            model = new ScriptModel(bug);
            for (int i = 0; i < 3; i++) {
                LockStore client = server.connect(new StoreContext("c" + i, time));
                client.listen(new Recorder());
                clients.add(client);
            }
        }

        Optional<String> difference() {
            for (int step = 1; step <= STEPS && difference == null; step++) {
                step();
                time.advance(Duration.ZERO); // delivers messages
                same("messages", List.copyOf(expectedMessages), List.copyOf(messages));
                same("state", get(clients.get(0).inspect(NAME)), model.inspect(now()));
                if (difference != null) {
                    return Optional.of("seed " + seed + ", step " + step + ": " + difference);
                }
            }
            return Optional.empty();
        }

        private void step() {
            String id = anyId();
            switch (random.nextInt(12)) {
                case 0, 1 -> acquire(AcquireRequest.once(NAME, newId(), lease()));
                case 2, 3, 4 -> acquire(AcquireRequest.queueing(NAME, newId(), lease(), 200));
                case 5 -> acquire(new AcquireRequest(NAME, id, lease(), random.nextBoolean(), 200, random.nextInt(3)));
                case 6 -> release(ReleaseRequest.of(NAME, id));
                case 7 ->
                    release(ReleaseRequest.requeueing(NAME, id, AcquireRequest.queueing(NAME, newId(), lease(), 200)));
                case 8 -> same("abandon", get(store(id).abandon(NAME, id)), model.abandon(id, now(), modelMessages));
                case 9 -> {
                    var request = new RenewRequest(NAME, id, lease(), random.nextInt(3), random.nextInt(3) == 0, true);
                    same("renew", get(store(id).renew(request)), model.renew(request, now()));
                }
                case 10 -> {
                    if (random.nextInt(4) == 0) {
                        String expected = random.nextBoolean() ? null : id;
                        same(
                                "force",
                                get(clients.get(0).forceRelease(NAME, expected)),
                                model.forceRelease(expected, now(), modelMessages));
                    }
                }
                default -> time.advance(Duration.ofMillis(random.nextInt(4) == 0 ? 500 : 20));
            }
        }

        private void acquire(AcquireRequest request) {
            same(
                    "acquire",
                    get(store(request.holderId()).acquire(request)),
                    model.acquire(request, Long.MAX_VALUE, now(), modelMessages));
        }

        private void release(ReleaseRequest request) {
            same(
                    "release",
                    get(store(request.holderId()).release(request)),
                    model.release(request, Long.MAX_VALUE, now(), modelMessages));
        }

        private void same(String what, Object expected, @Nullable Object actual) {
            if (difference != null || actual == null) {
                return;
            }
            Object one = withoutBase(expected, base -> base);
            Object other = withoutBase(actual, this::sameBase);
            if (!one.equals(other)) {
                difference = what + ": " + other + " (expected: " + one + ")";
            }
        }

        /** The base that the store gave in the answer just looked at. */
        private long expectedBase;

        /** The store's base for the model's, if each always goes with the other. */
        private long sameBase(long base) {
            long expected = bases.computeIfAbsent(base, b -> expectedBase);
            long back = basesBack.computeIfAbsent(expected, e -> base);
            return back == base ? expected : -base;
        }

        /** The two count bases from different beginnings; what must be the same is which of them are equal. */
        private Object withoutBase(Object answer, java.util.function.LongUnaryOperator base) {
            if (answer instanceof Granted granted) {
                return new Granted(translated(granted.base(), base), granted.waiting());
            }
            if (answer instanceof StoreState state && state.holder() != null) {
                return new StoreState(
                        state.holder(), state.remainingMillis(), translated(state.base(), base), state.waiting());
            }
            if (answer instanceof ReleaseReply release && release.requeued() != null) {
                return new ReleaseReply(release.wasHeld(), (AcquireReply) withoutBase(release.requeued(), base));
            }
            return answer;
        }

        private long translated(long base, java.util.function.LongUnaryOperator how) {
            long translated = how.applyAsLong(base);
            expectedBase = translated;
            return translated;
        }

        private final NameModel.Messenger modelMessages = new NameModel.Messenger() {
            @Override
            public boolean granted(PushedGrant grant) {
                messages.add(text(grant));
                return true;
            }

            @Override
            public void contended(String holderId) {
                messages.add("contended " + holderId);
            }

            @Override
            public void forced(String holderId) {
                messages.add("forced " + holderId);
            }
        };

        private static String text(PushedGrant grant) {
            return "granted " + grant.holderId() + ", waiting " + grant.waiting() + ", lease " + grant.leaseMillis()
                    + ", nonce " + grant.nonce() + ", since " + grant.sinceAskingMillis();
        }

        private long now() {
            return time.nanoTime();
        }

        private long lease() {
            return 100L * (1 + random.nextInt(20));
        }

        private String newId() {
            String id = "c" + random.nextInt(3) + ":" + ids.size();
            ids.add(id);
            return id;
        }

        /** Mostly a recent one: the holder, one that waits, or one that is through. */
        private String anyId() {
            return ids.isEmpty() ? newId() : ids.get(Math.max(0, ids.size() - 1 - random.nextInt(5)));
        }

        private LockStore store(String id) {
            return clients.get(id.charAt(1) - '0');
        }

        private static <T> T get(CompletionStage<T> stage) {
            return stage.toCompletableFuture().join();
        }

        private final class Recorder implements StoreListener {
            @Override
            public void granted(String name, String holderId) {
                throw new AssertionError("the store says since when");
            }

            @Override
            public void granted(PushedGrant grant) {
                expectedMessages.add(text(grant));
            }

            @Override
            public void contended(String name, String holderId) {
                expectedMessages.add("contended " + holderId);
            }

            @Override
            public void forced(String name, String holderId) {
                expectedMessages.add("forced " + holderId);
            }

            @Override
            public void released(String name) {}

            @Override
            public void reconnected() {}
        }
    }
}
