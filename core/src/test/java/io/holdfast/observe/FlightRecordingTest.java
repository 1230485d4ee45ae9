package io.holdfast.observe;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Inside;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.engine.ProbeStore;
import io.holdfast.memory.MemoryLockStore;
import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import jdk.jfr.EventType;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;
import jdk.jfr.ValueDescriptor;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The events of the flight recorder, on real time, as it has no other. */
class FlightRecordingTest {

    private static final Set<String> OF_EVERY_EVENT = Set.of("startTime", "duration", "eventThread", "stackTrace");

    @TempDir
    private Path folder;

    private final Recording recording = new Recording();
    private final MemoryLockStore.Server server = new MemoryLockStore.Server(TimeSource.system());
    private final ProbeStore store = new ProbeStore(server.connect(new StoreContext("seen", TimeSource.system())));
    private final LockClient client = client(store, TimeSource.system());

    private static LockClient client(ProbeStore store, TimeSource time) {
        return Inside.settings(LockClient.builder(), settings -> settings.clientId = "seen")
                .store(store)
                .timeSource(time)
                .leaseTime(Duration.ofSeconds(3))
                .build();
    }

    @BeforeEach
    void start() {
        recording.enable("io.holdfast.HandOff"); // the only one that is not recorded by default
        recording.start();
    }

    @AfterEach
    void close() {
        recording.close();
        client.close();
    }

    @Test
    void a_wait_is_recorded_on_the_thread_that_waited_with_its_holder_and_outcome() throws Exception {
        Lease first = client.acquire("a");
        FutureTask<Long> work = new FutureTask<>(() -> {
            try (Lease second = client.acquire("a")) {
                return second.fencingToken();
            }
        });
        new Thread(work, "the waiter").start();
        while (client.localLocks().get(0).waiting() == 0) {
            Thread.onSpinWait();
        }
        Thread.sleep(20);
        first.release();
        long token = work.get();

        RecordedEvent event = only("Acquire", token);
        assertThat(event.getString("name")).isEqualTo("a");
        assertThat(event.getString("client")).isEqualTo("seen");
        assertThat(event.getString("outcome")).isEqualTo("acquired");
        assertThat(event.getString("holder")).startsWith("seen:");
        assertThat(event.getThread().getJavaName()).isEqualTo("the waiter");
        assertThat(event.getStackTrace().getFrames().toString()).contains("Waiter", "FlightRecordingTest");
        assertThat(event.getDuration()).isGreaterThanOrEqualTo(Duration.ofMillis(20));
        assertThat(only("HandOff").getLong("fencingToken")).isEqualTo(token);

        RecordedEvent held = only("Hold", first.fencingToken());
        assertThat(held.getDuration()).isGreaterThanOrEqualTo(Duration.ofMillis(20));
        assertThat(held.getThread("acquiredBy").getJavaName())
                .isEqualTo(Thread.currentThread().getName());
        assertThat(held.getBoolean("lost")).isFalse();
    }

    @Test
    void waits_without_a_lease_have_their_outcome_and_the_holder_elsewhere() throws Exception {
        LockClient other = Inside.settings(LockClient.builder(), settings -> settings.clientId = "other")
                .store(server.connect(new StoreContext("other", TimeSource.system())))
                .build();
        try (other;
                Lease elsewhere = other.acquire("a")) {
            Optional<Lease> none = client.tryAcquire("a", LockOptions.defaults().waitAtMost(Duration.ofMillis(30)));
            assertThat(none).isEmpty();
            CompletableFuture<Lease> stage = client.acquireAsync("a").toCompletableFuture();
            Thread.sleep(20);
            stage.cancel(true);
            assertThat(elsewhere.isValid()).isTrue();
        }
        // On a slow machine, the other client's acquire is long enough to be recorded.
        List<RecordedEvent> events = recorded("Acquire").stream()
                .filter(event -> event.getString("client").equals("seen"))
                .toList();
        assertThat(events)
                .extracting(event -> event.getString("outcome"))
                .containsExactlyInAnyOrder("timed_out", "withdrawn");
        assertThat(events)
                .allSatisfy(event -> assertThat(event.getString("holder")).startsWith("other:"));
    }

    /** So that nothing but the waits that matter is in a recording of a busy client. */
    @Test
    void what_is_quick_is_not_recorded() throws Exception {
        for (int i = 0; i < 10; i++) {
            client.acquire("a").close();
        }
        // Two at once may each be late on a busy machine.
        assertThat(recorded("Acquire").size()).isLessThan(10);
        assertThat(recorded("Hold").size()).isLessThan(10);
    }

    @Test
    void a_loss_ends_the_hold() throws Exception {
        Lease lease = client.acquire("a");
        Thread.sleep(20);
        client.forceRelease("a");

        RecordedEvent lost = only("LeaseLost");
        assertThat(lost.getString("why")).isEqualTo("it was removed by force through this client");
        assertThat(lost.getLong("fencingToken")).isEqualTo(lease.fencingToken());
        assertThat(lost.getDuration("held")).isGreaterThanOrEqualTo(Duration.ofMillis(20));
        assertThat(only("Hold").getBoolean("lost")).isTrue();
        assertThat(lease.isValid()).isFalse();
    }

    @Test
    void renewals_failures_and_jumps_of_the_clock_are_recorded() throws Exception {
        VirtualTime time = new VirtualTime();
        ProbeStore failing = new ProbeStore(new MemoryLockStore.Server(time).connect(new StoreContext("seen", time)));
        LockClient renewing = client(failing, time);
        List<Lease> held = List.of(renewing.acquire("a"), renewing.acquire("b"));
        time.advance(Duration.ofMillis(1_100));
        failing.renews = ProbeStore.Fate.FAIL;
        time.advance(Duration.ofMillis(1_100));
        failing.renews = ProbeStore.Fate.PASS;
        time.stepWall(Duration.ofSeconds(60));
        time.advance(Duration.ofMillis(1_100));
        failing.listener.reconnected();
        assertThat(held).hasSize(2);
        Inside.engine(renewing).closeAsync();

        assertThat(recorded("Renewal").stream()
                        .map(event -> event.getInt("locks") + " locks, " + event.getInt("failed") + " failed"))
                .startsWith("2 locks, 0 failed", "2 locks, 2 failed");
        assertThat(recorded("StoreError")).first().satisfies(event -> {
            assertThat(event.getString("command")).isEqualTo("renew");
            assertThat(event.getString("outcome")).isEqualTo("not_executed");
            assertThat(event.getString("message")).isEqualTo("store: down");
        });
        assertThat(only("ClockJump").getDuration("by")).isBetween(Duration.ofSeconds(59), Duration.ofSeconds(61));
        assertThat(only("Reconnect").getString("client")).isEqualTo("seen");
    }

    @Test
    void nothing_is_kept_of_leases_that_have_ended() throws Exception {
        for (int i = 0; i < 10; i++) {
            client.acquire("a").close();
        }
        Lease lost = client.acquire("a");
        client.forceRelease("a");
        assertThat(lost.isValid()).isFalse();
        assertThat(((Observability) Inside.engine(client).events).recorded()).isZero();
    }

    /** Tools and recordings of other versions know them by these names: see docs/metrics.md. */
    @Test
    void each_event_has_the_fields_that_are_documented() throws Exception {
        client.acquire("a").close(); // loads the events
        Map<String, List<String>> fields = new TreeMap<>();
        for (EventType type : FlightRecorder.getFlightRecorder().getEventTypes()) {
            if (type.getName().startsWith("io.holdfast.")) {
                assertThat(type.getCategoryNames()).containsExactly("Holdfast");
                assertThat(type.getFields())
                        .allSatisfy(field ->
                                assertThat(field.getLabel()).as(field.getName()).isNotEmpty());
                fields.put(
                        type.getName().substring("io.holdfast.".length()),
                        type.getFields().stream()
                                .map(ValueDescriptor::getName)
                                .filter(name -> !OF_EVERY_EVENT.contains(name))
                                .sorted()
                                .toList());
            }
        }
        assertThat(fields)
                .containsExactly(
                        Map.entry("Acquire", List.of("client", "fencingToken", "holder", "name", "outcome")),
                        Map.entry("ClockJump", List.of("by", "client")),
                        Map.entry("HandOff", List.of("client", "fencingToken", "name", "waited", "waiting")),
                        Map.entry("Hold", List.of("acquiredBy", "client", "fencingToken", "lost", "name")),
                        Map.entry("LeaseLost", List.of("client", "fencingToken", "held", "name", "why")),
                        Map.entry("Reconnect", List.of("client", "store")),
                        Map.entry("Renewal", List.of("client", "failed", "locks", "took")),
                        Map.entry("StoreError", List.of("client", "command", "message", "name", "outcome")));
    }

    private RecordedEvent only(String event) throws IOException {
        List<RecordedEvent> found = recorded(event);
        assertThat(found).as(event).hasSize(1);
        return found.get(0);
    }

    /** On a busy machine a lease that should be quick is not, and is recorded, too. */
    private RecordedEvent only(String event, long token) throws IOException {
        List<RecordedEvent> found = recorded(event).stream()
                .filter(each -> each.getLong("fencingToken") == token)
                .toList();
        assertThat(found).as(event).hasSize(1);
        return found.get(0);
    }

    private List<RecordedEvent> recorded(String event) throws IOException {
        Path file = Files.createTempFile(folder, "test", ".jfr");
        recording.dump(file);
        return RecordingFile.readAllEvents(file).stream()
                .filter(found -> found.getEventType().getName().equals("io.holdfast." + event))
                .toList();
    }
}
