package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.memory.VirtualTime;
import io.holdfast.record.NameRecord.Entry;
import io.holdfast.record.NameRecord.Hold;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.testkit.contract.RecordingListener;
import io.holdfast.testkit.contract.RecordingListener.Kind;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a client tells its users of the rows that it looks at, under virtual time. */
class WatchTest {

    private static final String ID = "hf-b:1";

    private final VirtualTime time = new VirtualTime();
    private final Map<String, Row> rows = new HashMap<>();
    private final Holds holds = new Holds();
    private final Receivers receivers = new Receivers(holds);
    private final RecordingListener told = new RecordingListener();

    /** Answers with the rows, as reading them is all that a watch asks for. */
    private final Workers workers = new Workers() {
        @Override
        @SuppressWarnings("unchecked")
        public <T> CompletionStage<T> submit(Task<T> task, boolean renewal) {
            return (CompletionStage<T>) CompletableFuture.completedFuture(Map.copyOf(rows));
        }

        @Override
        public void close() {}
    };

    private final Watch watch = new Watch(new H2Table(), workers, holds, receivers, time, most -> 0);

    @BeforeEach
    void start() {
        receivers.locks = told;
        receivers.pools = told;
        watch.start();
    }

    private static AcquireRequest request(String holderId) {
        return AcquireRequest.queueing("a", holderId, 30_000, 10_000);
    }

    /** Lets this client wait for a permit of the pool, and be granted it. */
    private void isGrantedAPermit(int contended) {
        holds.waits(ID);
        show(true, contended, "hf-a:1");
        watch.waiting(request(ID), true, rows.values().iterator().next(), 0);
        time.advance(Duration.ofMillis(100));
        assertThat(told.messages()).isEmpty();

        show(true, contended, ID);
        time.advance(Duration.ofMillis(100));
        assertThat(told.messages(Kind.GRANTED)).hasSize(1);
    }

    private void show(boolean pool, int contended, String holder, String... waiting) {
        long nanos = time.wallMillis() * 1_000_000;
        long end = nanos + 30_000_000_000L;
        String queue = QueueText.text(
                List.of(waiting).stream()
                        .map(id -> new Entry(request(id), nanos))
                        .toList(),
                "",
                nanos,
                0);
        String holders = pool ? QueueText.text(List.of(new Hold(holder, 1, 7, end, 0))) : "";
        rows.put(
                pool ? LockKey.ofPool("a") : LockKey.of("a"),
                new Row(
                        7,
                        1,
                        pool ? "" : holder,
                        end / 1_000,
                        0,
                        30_000,
                        queue,
                        holders,
                        contended,
                        nanos / 1_000,
                        0,
                        false));
    }

    private void looksAtItsHolds() {
        time.advance(Duration.ofSeconds(2));
    }

    /** The count of a pool goes on from holder to holder: it has counted the wait of this client itself. */
    @Test
    void doesNotTellTheHolderOfAPermitOfWaitersBeforeIt() {
        isGrantedAPermit(1);
        show(true, 1, ID, "hf-c:1");
        looksAtItsHolds();
        assertThat(told.messages(Kind.CONTENDED)).isEmpty();
    }

    @Test
    void tellsTheHolderOfAPermitOfEachLaterWaiterThatNeedsIt() {
        isGrantedAPermit(1);
        show(true, 2, ID, "hf-c:1");
        looksAtItsHolds();
        assertThat(told.messages(Kind.CONTENDED)).hasSize(1);
        show(true, 3, ID, "hf-d:1");
        looksAtItsHolds();
        assertThat(told.messages(Kind.CONTENDED)).hasSize(2);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void tellsTheHolderOfAWaiterThatCameBeforeTheLook(boolean pool) {
        holds.waits(ID);
        show(pool, 1, "hf-a:1");
        watch.waiting(request(ID), pool, rows.values().iterator().next(), 0);
        show(pool, pool ? 2 : 1, ID, "hf-c:1");
        looksAtItsHolds();
        assertThat(told.messages(Kind.GRANTED)).hasSize(1);
        assertThat(told.messages(Kind.CONTENDED)).hasSize(1);
    }
}
