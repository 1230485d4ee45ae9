package io.holdfast.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.spi.RecordStore;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The part of the contract on the records of work that is done once. Skipped if the store keeps none. */
abstract class RecordContract extends CardContract {

    private static final Duration KEEP = Duration.ofMinutes(5);
    private static final String TEXT = "{\"paid\":\"7 €\",\n\"to\":\"\ud83d\udd12\"}";

    @Test
    void theHolderWritesARecordThatOutlivesTheHold() {
        assertThat(found(a)).isEmpty();
        String holder = hold(a, name);
        assertThat(keep(a, holder, TEXT, KEEP)).isTrue();
        assertThat(found(b)).contains(TEXT);
        assertThat(a.release(name, holder)).isTrue();
        assertThat(found(b)).contains(TEXT);
        assertFree(b, name);
        String next = hold(b, name);
        assertThat(found(b)).contains(TEXT);
        assertThat(b.release(name, next)).isTrue();
    }

    @Test
    void nobodyElseWritesOne() {
        assertThat(keep(a, a.newId(), TEXT, KEEP)).as("free").isFalse();
        String holder = hold(a, name);
        assertThat(keep(b, b.newId(), TEXT, KEEP)).as("held by another id").isFalse();
        assertThat(a.release(name, holder)).isTrue();
        assertThat(keep(a, holder, TEXT, KEEP)).as("released").isFalse();
        assertThat(found(a)).isEmpty();
    }

    @Test
    void aHolderThatHasLostItsHoldLeavesTheRecordOfTheNext() {
        String lost = hold(a, name);
        expire(a, name, lost);
        assertThat(keep(a, lost, "late", KEEP)).as("expired").isFalse();
        String next = hold(b, name);
        assertThat(keep(a, lost, "late", KEEP)).as("held by the next").isFalse();
        assertThat(keep(b, next, TEXT, KEEP)).isTrue();
        assertThat(keep(a, lost, "late", KEEP)).as("after its record").isFalse();
        assertThat(found(a)).contains(TEXT);
        assertThat(b.release(name, next)).isTrue();
    }

    /** The answer to the first may have been lost. */
    @Test
    void aRepetitionAfterTheReleaseFindsItsRecord() {
        String holder = hold(a, name);
        assertThat(keep(a, holder, TEXT, KEEP)).isTrue();
        assertThat(a.release(name, holder)).isTrue();
        assertThat(keep(a, holder, TEXT, KEEP)).isTrue();
        assertThat(keep(a, holder, "another", KEEP)).isFalse();
        assertThat(found(a)).contains(TEXT);
    }

    @Test
    void aRecordEnds() {
        String holder = hold(a, name);
        assertThat(keep(a, holder, TEXT, SHORT)).isTrue();
        assertThat(a.release(name, holder)).isTrue();
        elapse(AFTER_SHORT);
        assertThat(found(a)).isEmpty();
    }

    private Optional<String> found(StoreClient client) {
        return StoreClient.get(records(client).find(name));
    }

    private boolean keep(StoreClient client, String holder, String text, Duration time) {
        return StoreClient.get(records(client).keep(name, holder, text, time));
    }

    private static RecordStore records(StoreClient client) {
        Optional<RecordStore> records = client.store().records();
        assumeTrue(records.isPresent(), "the store keeps no records");
        return records.orElseThrow();
    }
}
