package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import io.holdfast.testkit.OverlapDetector;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Clients that take three names again and again, and makes of their rows that come late: nobody overlaps. */
@Tag("deep")
class HammerTest {

    private static final int CLIENTS = 8;
    private static final int HOLDS = 150;

    @ParameterizedTest
    @EnumSource
    void nobodyOverlaps(SqlSettings.Kind kind) throws Exception {
        String url = Databases.url(kind);
        Databases.open(url, new StoreContext("hf-tables", TimeSource.system())).close();
        String run = UUID.randomUUID().toString();
        List<OverlapDetector> names = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            names.add(new OverlapDetector("hammer:" + run + i));
        }
        AtomicBoolean done = new AtomicBoolean();
        ExecutorService threads = Executors.newFixedThreadPool(CLIENTS + 1);
        try {
            Future<Boolean> makes = threads.submit(() -> lateMakes(kind, url, run, done));
            List<Callable<Boolean>> clients = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                int client = i;
                clients.add(() -> client(url, "hf-hammer" + client + run.substring(0, 4), run, names, client));
            }
            for (Future<Boolean> client : threads.invokeAll(clients)) {
                assertThat(client.get()).isTrue();
            }
            done.set(true);
            assertThat(makes.get(30, TimeUnit.SECONDS)).isTrue();
        } finally {
            done.set(true);
            threads.shutdownNow();
        }
        int entries = 0;
        for (OverlapDetector name : names) {
            name.assertClean();
            entries += (int) name.entries();
        }
        assertThat(entries).isEqualTo(CLIENTS * HOLDS);
    }

    private static boolean client(String url, String id, String run, List<OverlapDetector> names, int seed)
            throws Exception {
        Random random = new Random(seed);
        try (LockStore store = Databases.open(url, new StoreContext(id, TimeSource.system()))) {
            int holds = 0;
            for (int i = 0; holds < HOLDS; i++) {
                int which = random.nextInt(3);
                String name = "hammer:" + run + which;
                String holder = id + ":" + i;
                boolean queue = random.nextInt(4) == 0;
                AcquireRequest request = queue
                        ? AcquireRequest.queueing(name, holder, 30_000, 5_000)
                        : AcquireRequest.once(name, holder, 30_000);
                AcquireReply reply =
                        store.acquire(request).toCompletableFuture().get(60, TimeUnit.SECONDS);
                if (reply instanceof AcquireReply.Granted granted) {
                    names.get(which).enter(granted.base());
                    names.get(which).leave();
                    assertThat(store.release(ReleaseRequest.of(name, holder))
                                    .toCompletableFuture()
                                    .get(60, TimeUnit.SECONDS)
                                    .wasHeld())
                            .isTrue();
                    holds++;
                } else if (queue) {
                    store.abandon(name, holder).toCompletableFuture().get(60, TimeUnit.SECONDS);
                }
            }
        }
        return true;
    }

    private static boolean lateMakes(SqlSettings.Kind kind, String url, String run, AtomicBoolean done)
            throws Exception {
        SqlSettings settings = SqlSettings.parse(URI.create(url));
        SqlErrors errors = new SqlErrors(settings);
        StoreContext context = new StoreContext("hf-makes", TimeSource.system());
        LockTable table = SqlOpening.table(settings);
        try (Link link = new Connecting(Drivers.find(settings), settings, context, errors).connect()) {
            Commands commands = new Commands(
                    table, errors, false, bound -> ThreadLocalRandom.current().nextLong(bound));
            while (!done.get()) {
                for (int i = 0; i < 3; i++) {
                    commands.make(link, "hammer:" + run + i);
                    // As a purge would, if the made row were a day old.
                    if (kind == SqlSettings.Kind.POSTGRESQL) {
                        link.update(
                                "DELETE FROM holdfast_lock WHERE lock_key = ? AND base = 0",
                                commands.key("hammer:" + run + i));
                    }
                }
                TimeUnit.MILLISECONDS.sleep(2);
            }
        }
        return true;
    }
}
