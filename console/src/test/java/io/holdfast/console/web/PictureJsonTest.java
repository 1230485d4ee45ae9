package io.holdfast.console.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.ClientCard;
import io.holdfast.console.LockPicture;
import io.holdfast.console.LockRow;
import io.holdfast.console.Queued;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What is sent is bounded, and what is counted is not. */
class PictureJsonTest {

    private static final int MANY = 1_000;

    @Test
    void aLargePictureIsCutAndItsCountsAreNot() {
        ClientCard client = new ClientCard(
                "hf-a",
                "a",
                "pod",
                1,
                "1.0",
                Duration.ofSeconds(1),
                List.of(),
                0,
                List.of(),
                0,
                List.of(),
                List.of(),
                List.of());
        Queued queued = new Queued(client, 2, Duration.ofSeconds(3), Optional.empty());
        List<LockRow> locks = IntStream.range(0, MANY)
                .mapToObj(i -> new LockRow(
                        "lock" + i,
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty(),
                        Set.of(),
                        2 * MANY,
                        Duration.ofSeconds(3),
                        Collections.nCopies(MANY, queued),
                        i,
                        0))
                .toList();
        LockPicture picture = new LockPicture(
                locks, Collections.nCopies(MANY, client), List.of(), List.of(), List.of(), Duration.ofSeconds(5), 0);

        Map<String, ?> json = PictureJson.of(picture, Set.of("lock500"), Set.of());

        // The most urgent, the busiest, and the one that is open.
        List<?> sent = (List<?>) json.get("locks");
        assertThat(sent).hasSize(200 + 50 + 1);
        assertThat(sent).extracting("name").contains("lock0", "lock199", "lock999", "lock950", "lock500");
        assertThat(sent).allSatisfy(lock -> {
            assertThat((List<?>) ((Map<?, ?>) lock).get("queue")).hasSize(50);
            assertThat(((Map<?, ?>) lock).get("queueClients")).isEqualTo(MANY);
        });
        assertThat((List<?>) json.get("clients")).hasSize(200);
        assertThat(json.get("lockCount")).isEqualTo(MANY);
        assertThat(json.get("clientCount")).isEqualTo(MANY);
        assertThat(json.get("waiterCount")).isEqualTo(2 * MANY * MANY);

        // The browser's filter reaches locks that are neither urgent nor busy.
        json = PictureJson.of(picture, Set.of(), Set.of("LOCK77", "no such"));
        assertThat((List<?>) json.get("locks")).extracting("name").contains("lock77", "lock770", "lock779");
        assertThat((List<?>) json.get("locks")).hasSize(200 + 50 + 10);
        assertThat(json.get("found")).isEqualTo(Map.of("LOCK77", 11, "no such", 0));
        json = PictureJson.of(picture, Set.of(), Set.of("a@pod"));
        assertThat((List<?>) json.get("locks")).as("all match").hasSize(200 + 50);
        assertThat(json.get("found")).isEqualTo(Map.of("a@pod", MANY));
    }
}
