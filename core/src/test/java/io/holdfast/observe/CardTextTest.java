package io.holdfast.observe;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.ClientCard;
import io.holdfast.ClientCard.ReadWriteUse;
import io.holdfast.spi.CardStore;
import io.holdfast.spi.StoredCard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The text of a card is data of others: whatever it is, reading it ends with a bounded card or with none. */
class CardTextTest {

    private static final long SEED = 20_261_123;
    private static final String CONTROL = "\u0000\u0007\u001b[31m\u202e\r";

    private static final String TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    private static @Nullable ClientCard read(String text) {
        return CardText.read(new StoredCard("hf-a", text, Duration.ofSeconds(1), Duration.ZERO));
    }

    private static ClientCard card() {
        return new ClientCard(
                "hf-a",
                "billing",
                "pod-7",
                4711,
                "1.0",
                Duration.ZERO,
                List.of(new ClientCard.HeldLock(
                        "a",
                        "hf-a:1",
                        16_384,
                        Duration.ofSeconds(3),
                        Optional.of(Duration.ofSeconds(9)),
                        2,
                        Duration.ofSeconds(1),
                        Optional.of("worker-1"),
                        Optional.of(TRACE),
                        OptionalLong.of(41))),
                1,
                List.of(new ClientCard.WaitedLock(
                        "b", Duration.ofSeconds(2), 1, Optional.of("hf-b:7"), Optional.empty(), OptionalLong.of(41))),
                1,
                List.of(new ClientCard.PermitsUse("e", 5, 2, 3, Duration.ofSeconds(4), 7, Duration.ofMillis(20))),
                List.of(writers(0), readers(0)),
                List.of(new ClientCard.Activity("a", 5, 3, 1, Duration.ofMillis(70))));
    }

    private static ReadWriteUse writers(long olderMillis) {
        return new ReadWriteUse(
                "c",
                true,
                0,
                Duration.ZERO,
                Optional.empty(),
                OptionalLong.empty(),
                1,
                Duration.ofMillis(30 + olderMillis),
                OptionalLong.of(41));
    }

    private static ReadWriteUse readers(long olderMillis) {
        return new ReadWriteUse(
                "c",
                false,
                3,
                Duration.ofMillis(6_000 + olderMillis),
                Optional.of("hf-a:9"),
                OptionalLong.of(42),
                0,
                Duration.ZERO,
                OptionalLong.empty());
    }

    @Test
    void any_change_of_a_card_leaves_a_bounded_card_or_none() {
        Random random = new Random(SEED);
        String valid = CardText.write(card(), 0);
        int read = 0;
        for (int run = 0; run < 20_000; run++) {
            StringBuilder text = new StringBuilder(valid);
            for (int change = random.nextInt(8); change >= 0; change--) {
                int at = random.nextInt(text.length() + 1);
                switch (random.nextInt(5)) {
                    case 0 -> text.insert(at, (char) random.nextInt(0x3000));
                    case 1 -> text.insert(at, random.nextLong());
                    case 2 -> text.delete(at, Math.min(text.length(), at + random.nextInt(20)));
                    case 3 -> text.insert(at, "\t\n\\hwbpr".charAt(random.nextInt(8)));
                    default -> text.insert(at, valid, random.nextInt(valid.length()), valid.length());
                }
            }
            ClientCard card = read(text.toString());
            if (card != null) {
                read++;
                check(card);
            }
        }
        assertThat(read).as("cards that were read").isBetween(1_000, 19_999);
    }

    private static void check(ClientCard card) {
        assertThat(card.held().size()).isBetween(0, 200);
        assertThat(card.waiting().size()).isBetween(0, 200);
        assertThat(card.busiest().size()).isBetween(0, 50);
        assertThat(card.heldCount()).isGreaterThanOrEqualTo(card.held().size());
        assertThat(card.waitingCount()).isGreaterThanOrEqualTo(card.waiting().size());
        List<Duration> times = new ArrayList<>();
        card.held().forEach(lock -> {
            times.add(lock.heldFor());
            times.add(lock.longestWait());
            lock.remaining().ifPresent(times::add);
            assertThat(lock.waiters()).isNotNegative();
            assertThat(lock.traceId().orElse("0".repeat(32))).matches("[0-9a-f]{32}");
        });
        card.waiting().forEach(lock -> times.add(lock.waited()));
        assertThat(card.permits().size()).isBetween(0, 200);
        card.permits().forEach(use -> {
            times.add(use.heldFor());
            times.add(use.waited());
            assertThat(List.of(use.limit(), use.leases(), use.held(), use.waiters()))
                    .allSatisfy(number -> assertThat(number).isNotNegative());
        });
        assertThat(card.readWrite().size()).isBetween(0, 200);
        card.readWrite().forEach(use -> {
            times.add(use.heldFor());
            times.add(use.waited());
            assertThat(List.of(use.leases(), use.waiters()))
                    .allSatisfy(number -> assertThat(number).isNotNegative());
        });
        card.busiest().forEach(lock -> times.add(lock.waited()));
        assertThat(times).allSatisfy(time -> assertThat(time).isBetween(Duration.ZERO, Duration.ofDays(40_000)));
    }

    @Test
    void more_locks_than_a_client_writes_are_not_read() {
        String head = CardText.write(card(), 0).lines().findFirst().orElseThrow();
        ClientCard card = read(head + "\n" + "h\ta\t1\t1\t1\t\t0\t0\t\n".repeat(250) + "w\ta\t1\t1\t\t\n".repeat(250)
                + "p\ta\t5\t1\t1\t9\t0\t0\n".repeat(250) + "r\ta\tread\t1\t9\t1\t\t0\t0\n".repeat(250)
                + "b\ta\t1\t1\t1\t1\n".repeat(500));
        assertThat(card).isNotNull();
        assertThat(card.held()).hasSize(200);
        assertThat(card.waiting()).hasSize(200);
        assertThat(card.permits()).hasSize(200);
        assertThat(card.readWrite()).hasSize(200);
        assertThat(card.busiest()).hasSize(50);
    }

    @Test
    void permits_are_read_as_they_were_written_and_older() {
        ClientCard.PermitsUse use = read(CardText.write(card(), 0)).permits().get(0);
        assertThat(use)
                .isEqualTo(new ClientCard.PermitsUse("e", 5, 2, 3, Duration.ofSeconds(5), 7, Duration.ofMillis(1_020)));
    }

    @Test
    void halves_of_read_write_locks_are_read_as_they_were_written_and_older() {
        assertThat(read(CardText.write(card(), 0)).readWrite()).containsExactly(writers(1_000), readers(1_000));
        assertThat(read(CardText.write(card(), 0).replace("\tread\t", "\tupgrade\t"))
                        .readWrite())
                .containsExactly(writers(1_000));
    }

    @Test
    void control_characters_are_shown_as_escapes() {
        String text = CardText.write(card(), 0)
                .replace("billing", "bill" + CONTROL)
                .replace("pod-7", "pod" + CONTROL)
                .replace("worker-1", CONTROL)
                .replace("hf-b:7", CONTROL);
        ClientCard card = read(text);
        assertThat(card).isNotNull();
        assertThat(List.of(
                        card.application(),
                        card.host(),
                        card.held().get(0).thread().orElseThrow(),
                        card.waiting().get(0).holder().orElseThrow()))
                .allSatisfy(shown -> assertThat(shown.chars()).noneMatch(Character::isISOControl));
        assertThat(card.application()).contains("\\u001b");
    }

    /** Clients of both versions share a store while an application is updated. */
    @Test
    void a_card_without_owners_is_read() {
        String valid = CardText.write(card(), 0);
        assertThat(read(valid).hold("a").orElseThrow().owner()).hasValue(41);
        assertThat(read(valid).waiting().get(0).owner()).hasValue(41);

        ClientCard old = read(valid.replace("\t41\n", "\n"));
        assertThat(old.hold("a").orElseThrow().owner()).isEmpty();
        assertThat(old.hold("a").orElseThrow().traceParent()).contains(TRACE);
        assertThat(old.waiting().get(0).owner()).isEmpty();
        assertThat(old.waiting().get(0).holder()).contains("hf-b:7");
    }

    @Test
    void a_trace_is_read_only_in_its_form() {
        String valid = CardText.write(card(), 0);
        assertThat(read(valid).hold("a").orElseThrow().traceParent()).contains(TRACE);
        assertThat(read(valid).hold("a").orElseThrow().traceId()).contains("4bf92f3577b34da6a3ce929d0e0e4736");
        for (String other : List.of("", "x", TRACE.toUpperCase(Locale.ROOT), TRACE + "-00", TRACE.substring(1))) {
            assertThat(read(valid.replace(TRACE, other)).hold("a").orElseThrow().traceParent())
                    .isEmpty();
        }
    }

    @Test
    void a_card_under_an_id_that_no_client_has_is_ignored() {
        String text = CardText.write(card(), 0);
        for (String id : List.of("", "hf-\u001b[31m", "hf-" + "x".repeat(200))) {
            assertThat(CardText.read(new StoredCard(id, text, Duration.ZERO, Duration.ZERO)))
                    .as(id)
                    .isNull();
        }
    }

    @Test
    void texts_of_another_format_or_too_long_are_ignored() {
        assertThat(read("")).isNull();
        assertThat(read("holdfast 2\tbilling")).isNull();
        assertThat(read("holdfast 1\tbilling")).isNull();
        assertThat(read(CardText.write(card(), 0) + "x".repeat(CardStore.TEXT_MAX)))
                .isNull();
    }
}
