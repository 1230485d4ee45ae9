package io.holdfast.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Each check accepts what is right and refuses a history that is wrong in this one respect. Times in milliseconds. */
class HistoryCheckerTest {

    private static final long MS = 1_000_000;

    private static HistoryChecker.Builder checker() {
        return HistoryChecker.builder().lease(2_000 * MS).waitSlack(10 * MS);
    }

    private static History history(String text) {
        List<Event> events = text.lines()
                .filter(line -> !line.isBlank())
                .map(line -> Event.parse(line.strip().replaceFirst("^(\\d+)", "$1000000")))
                .toList();
        return new History(events);
    }

    private static Findings check(String text) {
        return checker().build().check(history(text));
    }

    private static void accepted(String text) {
        assertThat(check(text).violations()).isEmpty();
    }

    private static void refused(String text, String why) {
        assertThat(check(text).violations()).singleElement().asString().contains(why);
    }

    // --- exclusion ---

    @Test
    void leases_that_follow_each_other() {
        accepted("""
                1 ask p/1 lock=a
                2 ask q/1 lock=a
                3 granted p/1 token=10
                5 release p/1
                7 granted q/1 token=11
                8 released p/1
                9 valid q/1
                """);
    }

    @Test
    void two_valid_leases() {
        refused("""
                1 ask p/1 lock=a
                1 ask q/1 lock=a
                3 granted p/1 token=10
                4 granted q/1 token=11
                5 valid p/1
                6 valid q/1
                7 release p/1
                8 release q/1
                """, "two valid leases for 1 ms");
    }

    @Test
    void a_lease_that_was_released_successfully_was_valid_until_then() {
        refused("""
                1 ask p/1 lock=a
                1 ask q/1 lock=a
                3 granted p/1 token=10
                4 granted q/1 token=11
                6 valid q/1
                7 release p/1
                8 released p/1
                9 release q/1
                """, "two valid leases for 2 ms");
    }

    @Test
    void a_lease_that_was_not_seen_valid_is_not_held_against_anybody() {
        accepted("""
                1 ask p/1 lock=a
                1 ask q/1 lock=a
                3 granted p/1 token=10
                4 granted q/1 token=11
                6 valid q/1
                7 lost p/1
                9 release q/1
                """);
    }

    @Test
    void a_lease_that_is_valid_again_after_its_loss() {
        refused("""
                1 ask p/1 lock=a
                3 granted p/1 token=10
                4 lost p/1
                5 valid p/1
                """, "valid again 1 ms after its end");
    }

    private static final String FORGETFUL = """
            1 ask p/1 lock=a
            2 granted p/1 token=655360
            100 forgot server
            110 ask q/1 lock=a
            120 granted q/1 token=1310720
            130 valid q/1
            130 valid p/1
            """;

    @Test
    void a_store_that_forgot_may_grant_again_for_as_long_as_the_old_lease_lasts() {
        accepted(FORGETFUL + "700 lost p/1\n3000 release q/1");
    }

    @Test
    void a_loss_that_is_not_noticed() {
        refused(FORGETFUL + "2500 valid q/1\n2500 valid p/1\n3000 release q/1", "a loss that was not noticed");
    }

    /** Its process was paused: it learns of its grant and of its loss at once. */
    @Test
    void a_forgotten_lease_that_was_over_when_its_owner_received_it() {
        accepted("""
                1 ask p/1 lock=a
                100 forgot server
                110 ask q/1 lock=a
                120 granted q/1 token=1310720
                3000 granted p/1 token=16384
                3000 lost p/1
                3100 valid q/1
                3200 release q/1
                """);
    }

    /** Two masters, say: from 100 on for a second, both grant and renew. */
    @Test
    void a_loss_that_takes_time_excuses_until_a_lease_after_its_end() {
        String both = FORGETFUL.replace("forgot server", "forgot server nanos=1000000000");
        accepted(both + "2500 valid q/1\n2500 valid p/1\n3000 release q/1\n3000 lost p/1");
        refused(both + "3500 valid q/1\n3500 valid p/1\n4000 release q/1", "a loss that was not noticed");
    }

    /** A quorum renews what it had lost, once the other lease that it gave since is lost as well. */
    @Test
    void a_second_loss_excuses_until_a_lease_after_it() {
        String twice = FORGETFUL + "1900 forgot server lock=a\n";
        accepted(twice + "2500 valid q/1\n2500 valid p/1\n3000 release q/1\n3000 lost p/1");
        refused(twice + "3950 valid q/1\n3950 valid p/1\n4000 release q/1", "a loss that was not noticed");
        String tooLate = FORGETFUL + "2300 forgot server lock=a\n";
        refused(tooLate + "2500 valid q/1\n2500 valid p/1\n3000 release q/1", "a loss that was not noticed");
    }

    @Test
    void what_was_forgotten_of_another_lock_excuses_nothing() {
        refused(FORGETFUL.replace("forgot server", "forgot server lock=b"), "two valid leases");
    }

    // --- tokens ---

    @Test
    void the_same_token_twice() {
        refused("""
                1 ask p/1 lock=a
                2 granted p/1 token=10
                3 release p/1
                4 ask q/1 lock=a
                5 granted q/1 token=10
                """, "the same token twice");
    }

    @Test
    void a_token_that_goes_back() {
        refused("""
                1 ask p/1 lock=a
                2 granted p/1 token=10
                3 release p/1
                4 ask q/1 lock=a
                5 granted q/1 token=9
                6 valid q/1
                """, "a token that is not larger");
    }

    // --- leases ---

    @Test
    void a_fixed_lease_that_is_valid_for_too_long() {
        refused("""
                1 ask p/1 lock=a lease=100000000
                2 granted p/1 token=10
                150 valid p/1
                """, "valid for 148 ms with a lease of 100 ms");
    }

    // --- outcomes and waits ---

    @Test
    void an_operation_without_outcome() {
        refused("1 ask p/1 lock=a\n50 ask q/1 lock=b\n60 granted q/1", "p/1 for a had no outcome");
    }

    @Test
    void an_operation_of_a_process_that_died_has_none() {
        accepted("1 ask p/1 lock=a\n3 died p");
    }

    @Test
    void two_outcomes() {
        refused("""
                1 ask p/1 lock=a
                2 granted p/1 token=10
                3 refused p/1 why=timeout
                """, "two outcomes");
    }

    @Test
    void a_wait_that_is_too_long() {
        refused("""
                1 ask p/1 lock=a wait=100000000
                112 refused p/1 why=timeout
                """, "waited for 111 ms");
    }

    @Test
    void a_pause_excuses_a_long_wait() {
        accepted("""
                1 ask p/1 lock=a wait=100000000
                90 paused p nanos=500000000
                600 refused p/1 why=timeout
                """);
    }

    @Test
    void an_outcome_that_nobody_asked_for() {
        refused("1 granted p/1 token=1", "without having asked");
    }

    @Test
    void a_lock_that_stays_free_while_somebody_waits() {
        String text = """
                1 ask p/1 lock=a
                2 granted p/1 token=10
                3 ask q/1 lock=a
                5 release p/1
                200 granted q/1 token=11
                201 release q/1
                """;
        assertThat(checker().idleAtMost(194 * MS).build().check(history(text)).violations())
                .singleElement()
                .asString()
                .contains("a was free for 195 ms while q/1");
        assertThat(checker().idleAtMost(195 * MS).build().check(history(text)).violations())
                .isEmpty();
    }

    @Test
    void a_dead_process_keeps_its_lock_for_no_longer_than_its_lease() {
        String text = """
                1 ask p/1 lock=a
                2 granted p/1 token=10
                3 ask q/1 lock=a
                5 died p
                2300 granted q/1 token=11
                2301 release q/1
                """;
        assertThat(checker().idleAtMost(200 * MS).build().check(history(text)).violations())
                .singleElement()
                .asString()
                .contains("a was free for 295 ms while q/1");
        assertThat(checker().idleAtMost(300 * MS).build().check(history(text)).violations())
                .isEmpty();
    }

    @Test
    void somebody_who_is_overtaken_too_often() {
        StringBuilder text = new StringBuilder("1 ask slow/1 lock=a\n");
        for (int i = 1; i <= 5; i++) {
            text.append(10 * i + " ask q/" + i + " lock=a\n")
                    .append(10 * i + 1 + " granted q/" + i + " token=" + i + "\n")
                    .append(10 * i + 2 + " release q/" + i + "\n");
        }
        text.append("90 granted slow/1 token=99");
        assertThat(checker()
                        .overtakesAtMost(4)
                        .build()
                        .check(history(text.toString()))
                        .violations())
                .singleElement()
                .asString()
                .contains("slow/1 for a with token 99 was overtaken by 5");
        assertThat(checker()
                        .overtakesAtMost(5)
                        .build()
                        .check(history(text.toString()))
                        .held())
                .isTrue();
    }

    // --- guarded resources ---

    @Test
    void a_register_that_loses_an_addition() {
        refused("""
                1 write p/1 of=r value=1 token=10 accepted=true
                2 write q/1 of=r value=1 token=11 accepted=true
                """, "an addition to r was lost");
    }

    @Test
    void a_register_that_accepts_an_older_token() {
        refused("""
                1 write p/1 of=r value=1 token=10 accepted=true
                2 write q/1 of=r value=2 token=9 accepted=true
                """, "accepted token 9");
    }

    @Test
    void a_register_that_rejects_an_older_token_loses_nothing() {
        Findings findings = check("""
                1 write p/1 of=r value=1 token=10 accepted=true
                2 write q/1 of=r value=1 token=9 accepted=false
                3 write p/2 of=r value=2 token=12 accepted=true
                """);
        assertThat(findings.held()).isTrue();
        assertThat(findings.accepted()).isEqualTo(2);
        assertThat(findings.rejected()).isEqualTo(1);
    }

    @Test
    void the_damage_of_a_counter_without_guard_is_counted() {
        Findings findings = check("""
                1 count p/1 of=c value=1
                2 count q/1 of=c value=1
                3 count p/2 of=c value=2
                """);
        assertThat(findings.held()).isTrue();
        assertThat(findings.damage()).isEqualTo(1);
    }

    // --- reentrancy ---

    @Test
    void a_lock_that_its_owner_locks_several_times() {
        accepted("""
                1 ask p/1 lock=a owner=t
                2 ask q/1 lock=a owner=u
                3 granted p/1 token=10
                4 again p/1 depth=2 token=10 owner=t
                5 again p/1 depth=3 token=10 owner=t
                6 unlocked p/1 depth=2 owner=t
                7 unlocked p/1 depth=1 owner=t
                8 again p/1 depth=2 token=10 owner=t
                9 unlocked p/1 depth=1 owner=t
                10 release p/1
                11 released p/1
                12 granted q/1 token=11
                13 release q/1
                14 released q/1
                """);
    }

    @Test
    void a_token_that_changes_while_the_owner_locks_again() {
        refused("""
                1 ask p/1 lock=a owner=t
                3 granted p/1 token=10
                4 again p/1 depth=2 token=11 owner=t
                5 unlocked p/1 depth=1 owner=t
                6 release p/1
                """, "was locked again with token 11");
    }

    @Test
    void a_count_that_is_wrong() {
        refused("""
                1 ask p/1 lock=a owner=t
                3 granted p/1 token=10
                4 again p/1 depth=3 token=10 owner=t
                5 unlocked p/1 depth=1 owner=t
                6 release p/1
                """, "counts 3 (expected: 2)");
    }

    @Test
    void another_thread_that_is_let_in_as_if_it_were_the_owner() {
        refused("""
                1 ask p/1 lock=a owner=t
                3 granted p/1 token=10
                4 again p/1 depth=2 token=10 owner=u
                5 unlocked p/1 depth=1 owner=t
                6 release p/1
                """, "of t was locked again by u");
    }

    @Test
    void a_release_while_the_owner_has_locked_it_more_often() {
        refused("""
                1 ask p/1 lock=a owner=t
                3 granted p/1 token=10
                4 again p/1 depth=2 token=10 owner=t
                6 release p/1
                """, "released while it was locked 2 times");
    }

    @Test
    void a_lock_that_is_locked_again_after_its_release_or_its_loss() {
        refused("""
                1 ask p/1 lock=a owner=t
                3 granted p/1 token=10
                4 release p/1
                5 released p/1
                6 again p/1 depth=2 token=10 owner=t
                """, "locked again while it was not held");
        refused("""
                1 ask p/1 lock=a owner=t
                3 granted p/1 token=10
                4 lost p/1
                6 again p/1 depth=2 token=10 owner=t
                """, "locked again after its loss");
    }

    @Test
    void an_unlock_too_many() {
        refused("""
                1 ask p/1 lock=a owner=t
                3 granted p/1 token=10
                5 unlocked p/1 depth=0 owner=t
                """, "counts 0 (expected: 1)");
    }

    // --- permits ---

    private static final String TWO_AND_TWO = """
            1 ask p/1 lock=a weight=2 capacity=5
            1 ask q/1 lock=a weight=2 capacity=5
            1 ask r/1 lock=a weight=%d capacity=%d
            3 granted p/1 token=10
            4 granted q/1 token=11
            5 granted r/1 token=12
            8 valid p/1
            8 valid q/1
            9 valid r/1
            10 release p/1
            10 release q/1
            10 release r/1
            """;

    @Test
    void permits_within_their_limit() {
        accepted(TWO_AND_TWO.formatted(1, 5));
    }

    @Test
    void permits_above_their_limit() {
        refused(
                TWO_AND_TWO.formatted(2, 5),
                "valid leases of weight 6 (at most: 5) for 3 ms: p/1 for a with token 10, q/1 for a with token 11 and"
                        + " r/1 for a with token 12, from 5000000");
    }

    /** A lower limit ends nothing that is held, but its own request waits for all that is above it. */
    @Test
    void the_youngest_permit_has_the_limit_that_counts() {
        accepted(TWO_AND_TWO
                .replace("a weight=2 capacity=5", "a weight=2 capacity=4")
                .formatted(2, 6));
        refused(TWO_AND_TWO.formatted(1, 4), "valid leases of weight 5 (at most: 4)");
    }

    @Test
    void permits_whose_grants_are_recorded_in_another_order() {
        String late = TWO_AND_TWO.formatted(1, 5).replace("3 granted p/1 token=10", "3 granted p/1 token=13");
        accepted(late);
        refused(late.replace("p/1 lock=a weight=2 capacity=5", "p/1 lock=a weight=2 capacity=4"), "(at most: 4)");
    }

    /** Two that were never valid at the same time do not add up. */
    @Test
    void permits_that_follow_each_other_beside_a_long_one() {
        accepted("""
                1 ask p/1 lock=a weight=3 capacity=5
                2 granted p/1 token=10
                3 ask q/1 lock=a weight=2 capacity=5
                4 granted q/1 token=11
                5 valid q/1
                6 release q/1
                7 ask r/1 lock=a weight=2 capacity=5
                8 granted r/1 token=12
                9 valid r/1
                9 valid p/1
                10 release r/1
                10 release p/1
                """);
    }

    @Test
    void a_writer_beside_a_reader() {
        String readers = """
                1 ask p/1 lock=a weight=1 capacity=100
                1 ask q/1 lock=a weight=%d capacity=100
                3 granted p/1 token=10
                4 granted q/1 token=11
                6 valid p/1
                6 valid q/1
                7 release p/1
                7 release q/1
                """;
        accepted(readers.formatted(1));
        refused(readers.formatted(100), "valid leases of weight 101 (at most: 100) for 2 ms");
    }

    @Test
    void permits_that_the_store_forgot_count_until_that_is_noticed() {
        String forgot = """
                1 ask p/1 lock=a weight=3 capacity=5
                2 granted p/1 token=655360
                100 forgot server
                110 ask q/1 lock=a weight=3 capacity=5
                120 granted q/1 token=1310720
                130 valid q/1
                130 valid p/1
                """;
        accepted(forgot + "700 lost p/1\n3000 release q/1");
        refused(
                forgot + "2500 valid q/1\n2500 valid p/1\n3000 release q/1",
                "some of which the store had forgotten a lease before");
        refused(forgot.replace("forgot server", "forgot server lock=b"), "valid leases of weight 6");
    }

    @Test
    void tokens_of_readers_that_share_a_hold() {
        String reads = """
                1 ask p/1 lock=a capacity=5 shared=true
                2 granted p/1 token=9
                3 ask q/1 lock=a capacity=5 shared=true
                4 granted q/1 token=20
                5 ask p/2 lock=a capacity=5 shared=true
                6 granted p/2 token=10
                """;
        // The second reader of p joins the first.
        accepted(reads);
        refused(reads.replace(" shared=true", ""), "a token that is not larger");
        String read = """
                1 ask w/1 lock=a weight=5 capacity=5
                2 granted w/1 token=20
                3 release w/1
                4 ask p/1 lock=a capacity=5 shared=true
                5 granted p/1 token=10
                6 valid p/1
                """;
        refused(read, "a token that is not larger");
        accepted(read.replace("token=10", "token=30"));
    }

    @Test
    void tokens_of_permits() {
        String grants = """
                1 ask p/1 lock=a capacity=5
                2 ask q/1 lock=a capacity=5
                3 granted p/1 token=11
                4 granted q/1 token=10
                5 valid q/1
                """;
        // Which of the two was granted first nobody knows.
        accepted(grants);
        refused(grants.replace("2 ask q/1", "4 ask q/1"), "a token that is not larger");
        refused(grants.replace("token=10", "token=11"), "the same token twice");
        refused(
                grants + "5 ask r/1 lock=a capacity=5\n6 granted r/1 token=12\n7 ask s/1 lock=a capacity=5\n"
                        + "8 granted s/1 token=11",
                "the same token twice: p/1");
    }

    private static final String LEFT_FREE = """
            1 ask p/1 lock=a weight=3 capacity=5
            2 granted p/1 token=10
            3 ask q/1 lock=a weight=%d capacity=5
            200 granted q/1 token=11
            201 release p/1
            201 release q/1
            """;

    @Test
    void a_permit_that_stays_free_while_somebody_waits() {
        HistoryChecker checker = checker().idleAtMost(190 * MS).build();
        assertThat(checker.check(history(LEFT_FREE.formatted(2))).violations())
                .singleElement()
                .asString()
                .contains("a was free for 197 ms while q/1");
        assertThat(checker.check(history(LEFT_FREE.formatted(3))).violations())
                .as("it does not fit before the release")
                .isEmpty();
        // One that does not fit may be before it.
        assertThat(checker.check(history(LEFT_FREE.formatted(2)
                                + "2 ask r/1 lock=a weight=3 capacity=5\n202 granted r/1 token=12\n203 release r/1"))
                        .violations())
                .isEmpty();
    }

    @Test
    void a_small_request_that_overtakes_a_large_one() {
        String text = """
                1 ask p/1 lock=a capacity=5
                2 granted p/1 token=10
                3 ask large/1 lock=a weight=5 capacity=5
                %d ask small/1 lock=a capacity=5
                60 granted small/1 token=11
                90 release p/1
                90 release small/1
                100 granted large/1 token=12
                101 release large/1
                """;
        HistoryChecker checker = checker().permitsInOrder(20 * MS).build();
        assertThat(checker.check(history(text.formatted(50))).violations())
                .singleElement()
                .asString()
                .contains("large/1 for a with token 12 was overtaken by small/1", "which asked 47 ms later");
        // Which of two that ask at about the same time comes first is the network's decision.
        assertThat(checker.check(history(text.formatted(20))).violations()).isEmpty();
        assertThat(checker()
                        .permitsInOrder(20 * MS)
                        .waitSlack(200 * MS)
                        .build()
                        .check(history(text.formatted(50).replace("large/1 lock=a", "large/1 lock=a wait=0")))
                        .violations())
                .as("one attempt does not wait")
                .isEmpty();
        assertThat(checker.check(history(text.formatted(50).replaceFirst("90 release p/1", "70 died large\n$0")))
                        .violations())
                .as("a granted operation of the dead")
                .isEmpty();
    }
}
