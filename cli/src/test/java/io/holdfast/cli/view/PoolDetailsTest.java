package io.holdfast.cli.view;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.ClientCard;
import io.holdfast.cli.view.PoolState.Kind;
import io.holdfast.console.Flag;
import io.holdfast.console.LockRow;
import io.holdfast.console.PermitsInUse;
import io.holdfast.console.ReadWriteInUse;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Permits and a read-write lock of which one holder is silent. */
class PoolDetailsTest {

    private static final ClientCard SILENT = card("hf-1", "billing");
    private static final ClientCard HEARD = card("hf-2", "orders");

    @Test
    void theSilentHolderOfPermitsIsNamed() {
        LockRow row = row(
                "permits:export",
                Optional.of(new PermitsInUse(
                        3,
                        List.of(5),
                        List.of(
                                new PermitsInUse.Holder(SILENT, 1, 2, ofSeconds(30), Optional.of(ofSeconds(12))),
                                new PermitsInUse.Holder(HEARD, 1, 1, ofSeconds(20))))),
                Optional.empty());
        PoolState state = new PoolState(
                Kind.PERMITS, "export", 3, List.of(hold("hf-1:7", 2, 12, SILENT), hold("hf-2:1", 1, 28, HEARD)), 0);
        assertThat(new PoolDetails(row, state, "").lines())
                .contains(
                        "  hf-1:7: 2 permits, ends in 12s (its client is silent), billing@pod-7 (pid 4711)",
                        "  hf-2:1: 1 permit, ends in 28s unless renewed, orders@pod-7 (pid 4711)",
                        "flags    DEAD free in 12s");
        assertThat(new PoolDetails(row, null, "").lines())
                .contains(
                        "  billing@pod-7 (pid 4711): 2 permits by 1 lease, the oldest for 30s; silent, free in 12s",
                        "  orders@pod-7 (pid 4711): 1 permit, the oldest for 20s");
    }

    @Test
    void theSilentReaderIsNamed() {
        LockRow row = row(
                "read-write:catalog",
                Optional.empty(),
                Optional.of(new ReadWriteInUse(List.of(new ReadWriteInUse.Holder(
                        SILENT, ReadWriteInUse.Mode.READ, 1, ofSeconds(30), Optional.of(ofSeconds(12)))))));
        PoolState state = new PoolState(Kind.READ_WRITE, "catalog", 0, List.of(hold("hf-1:7", 0, 12, SILENT)), 0);
        assertThat(new PoolDetails(row, state, "").lines())
                .contains("  hf-1:7: reads, ends in 12s (its client is silent), billing@pod-7 (pid 4711)");
        assertThat(new PoolDetails(row, null, "").lines())
                .contains("  billing@pod-7 (pid 4711): 1 reader, the oldest for 30s; silent, free in 12s");
    }

    private static LockRow row(String name, Optional<PermitsInUse> permits, Optional<ReadWriteInUse> readWrite) {
        return new LockRow(
                name, Optional.empty(), permits, readWrite, Set.of(Flag.DEAD), 0, Duration.ZERO, List.of(), 0, 0);
    }

    private static PoolState.Hold hold(String holder, int permits, int seconds, ClientCard card) {
        return new PoolState.Hold(holder, permits, false, ofSeconds(seconds), 1, Optional.of(card), card.title());
    }

    private static ClientCard card(String id, String application) {
        return new ClientCard(
                id,
                application,
                "pod-7",
                4711,
                "1.0",
                Duration.ZERO,
                List.of(),
                1,
                List.of(),
                0,
                List.of(),
                List.of(),
                List.of());
    }
}
