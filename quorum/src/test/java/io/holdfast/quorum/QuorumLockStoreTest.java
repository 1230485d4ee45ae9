package io.holdfast.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.quorum.QuorumMember.Identity;
import io.holdfast.quorum.QuorumMember.Take;
import io.holdfast.quorum.memory.MemoryQuorumNode;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

/** The quorum step by step, with members that are slow, dead, empty or late. */
class QuorumLockStoreTest extends QuorumFixture {

    @Test
    void a_minority_that_hangs_costs_nothing() {
        Client a = new Client();
        a.troubles.get(1).stopped = true;
        long before = time.nanoTime();
        String holder = a.newId();
        a.granted(holder);
        assertThat(a.renew(holder)).isCompletedWithValueMatching(RenewReply.Renewed.class::isInstance);
        assertThat(a.release(holder)).isTrue();
        assertThat(time.nanoTime()).isEqualTo(before);
    }

    /** Otherwise each lock would leave some thirty tries behind, in the minute of the default longest lease. */
    @Test
    void nothing_is_given_back_to_a_member_that_is_down_and_never_got_it() {
        Client a = new Client();
        a.troubles.get(1).down = true;
        for (int i = 0; i < 10; i++) {
            String holder = a.newId();
            a.granted(holder);
            assertThat(a.release(holder)).isTrue();
        }
        assertThat(a.store.undoing()).isZero();

        String filledIn = a.newId();
        a.granted(filledIn);
        a.troubles.get(1).down = false;
        await(a.renew(filledIn));
        assertThat(nodes.get(1).size()).isEqualTo(1);
        a.troubles.get(1).down = true;
        assertThat(a.release(filledIn)).isTrue();
        a.troubles.get(1).down = false;
        time.advance(Duration.ofSeconds(1));
        assertThat(nodes).allMatch(node -> node.size() == 0);
        assertThat(a.store.undoing()).isZero();
    }

    @Test
    void a_vote_is_not_given_back_again_and_again_to_a_member_that_refuses_for_good() {
        Client a = new Client();
        String holder = a.newId();
        a.granted(holder);
        a.troubles.get(1).down = true;
        assertThat(a.release(holder)).isTrue();
        assertThat(a.store.undoing()).isOne();
        a.troubles.get(1).forbidden = true;
        a.troubles.get(1).down = false;
        time.advance(Duration.ofSeconds(1));
        assertThat(a.store.undoing()).isZero();
    }

    /** Sixteenths of a ms since 1970 do not fit a token after the year 3084: the sign bit would be next. */
    @Test
    void a_clock_that_is_centuries_ahead_makes_no_token() {
        Client a = new Client();
        time.stepWall(Duration.ofDays(365 * 1_100));
        StoreException error = failure(a.take(a.newId()));

        assertThat(error)
                .hasMessageContaining("this machine's clock")
                .hasMessageContaining("(expected: a time before the year 3084; set the clock)");
        assertThat(error.outcome()).isEqualTo(StoreException.Outcome.FATAL);
        time.stepWall(Duration.ofDays(-365 * 1_100));
        assertThat(a.granted(a.newId()).base()).isLessThan(1L << 49);
    }

    @Test
    void a_majority_that_hangs_is_an_error_after_the_members_timeout_and_leaves_nothing() {
        Client a = new Client();
        a.troubles.get(0).stopped = true;
        a.troubles.get(2).stopped = true;
        long before = time.nanoTime();
        StoreException error = failure(a.take(a.newId()));
        assertThat(error).hasMessageContaining("2 of the 3 members").hasMessageContaining("m0 did not answer");
        assertThat(error.outcome()).isEqualTo(StoreException.Outcome.UNKNOWN);
        assertThat(time.nanoTime() - before).isLessThanOrEqualTo(110_000_000L);

        a.troubles.get(0).stopped = false;
        a.troubles.get(2).stopped = false;
        time.advance(Duration.ofSeconds(3));
        assertThat(nodes).allMatch(node -> node.size() == 0);
        assertThat(a.store.undoing()).isZero();
        new Client().granted("x:1");
    }

    @Test
    void votes_that_arrive_when_nobody_waits_any_more_are_given_back() {
        Client a = new Client();
        a.troubles.forEach(trouble -> trouble.mute = true);
        String holder = a.newId();
        failure(a.take(holder));
        // Both the request and the releases that followed were executed, though no answer arrived.
        assertThat(nodes).allMatch(node -> node.size() == 0);
        a.troubles.forEach(trouble -> trouble.mute = false);
        time.advance(Duration.ofSeconds(6));
        assertThat(a.store.undoing()).isZero();
        assertThat(a.store.remembered()).isZero();
    }

    @Test
    void a_majority_that_is_complete_only_when_the_lease_is_over_grants_nothing() {
        Client a = new Client();
        for (TroubledMember.Trouble trouble : a.troubles) {
            trouble.delayNanosMax = 60_000_000;
        }
        StoreException error =
                failure(a.store.acquire(AcquireRequest.once(NAME, a.newId(), 3)).toCompletableFuture());
        assertThat(error).hasMessageContaining("had run out");
        time.advance(Duration.ofSeconds(1));
        assertThat(nodes).allMatch(node -> node.size() == 0);
    }

    @Test
    void a_majority_of_votes_for_another_is_busy_for_as_long_as_the_majority_lasts() {
        Client a = new Client();
        Client b = new Client();
        String holder = a.newId();
        a.granted(holder);
        var busy = b.busy(b.newId());
        assertThat(busy.holder()).isEqualTo(holder);
        assertThat(busy.remainingMillis()).isBetween(LEASE_MILLIS - 100, LEASE_MILLIS);
    }

    /** Found by simulation, seed 202790 with -Dbusy=3: clients that waited then did not receive the release. */
    @Test
    void a_waiter_that_leaves_does_not_leave_for_a_later_waiter_of_its_client() {
        Client holder = new Client();
        String held = holder.newId();
        holder.granted(held);
        Client a = new Client();
        AtomicInteger told = new AtomicInteger();
        a.onReleased(told::incrementAndGet);
        String first = a.newId();
        a.waits(first);
        String second = a.newId();
        a.waits(second);
        await(a.store.abandon(NAME, first));
        holder.release(held);
        time.advance(Duration.ofMillis(50));
        assertThat(told).hasValue(1);
        await(a.store.abandon(NAME, second));
        assertThat(nodes).allMatch(node -> node.size() == 0);
        assertThat(a.store.remembered()).isZero();
    }

    /** Found by simulation, seed 257776 with -Dbusy=3: the new id was remembered as one that waits forever. */
    @Test
    void an_id_that_is_withdrawn_while_the_release_before_it_is_under_way_does_not_begin_to_wait() {
        Client a = new Client();
        Client b = new Client();
        String held = a.newId();
        a.granted(held);
        String next = a.newId();
        a.troubles.forEach(trouble -> trouble.delayNanosMax = 5_000_000);
        CompletionStage<ReleaseReply> released = a.store.release(
                ReleaseRequest.requeueing(NAME, held, AcquireRequest.queueing(NAME, next, LEASE_MILLIS, 1_000)));
        CompletionStage<Boolean> withdrawn = a.store.abandon(NAME, next);
        assertThat(await(released).wasHeld()).isTrue();
        assertThat(await(withdrawn)).isFalse();
        b.granted(b.newId());
        assertThat(a.store.remembered()).isZero();
    }

    @Test
    void an_id_that_a_release_is_to_queue_for_longer_than_the_longest_lease_is_refused() {
        Client a = new Client();
        String held = a.newId();
        a.granted(held);
        AcquireRequest tooLong = AcquireRequest.queueing(NAME, a.newId(), LONGEST.toMillis() + 1, 1_000);
        assertThat(failure(a.store.release(ReleaseRequest.requeueing(NAME, held, tooLong))))
                .hasMessageContaining("longestLease");
        assertThat(nodes).allMatch(node -> node.size() == 0);
        assertThat(a.store.remembered()).isZero();
    }

    @Test
    void an_id_that_is_withdrawn_while_it_is_asked_for_twice_does_not_begin_to_wait() {
        Client a = new Client();
        Client b = new Client();
        b.granted(b.newId());
        a.troubles.forEach(trouble -> trouble.delayNanosMax = 5_000_000);
        AcquireRequest request = AcquireRequest.queueing(NAME, a.newId(), LEASE_MILLIS, 1_000);
        a.store.acquire(request);
        CompletionStage<AcquireReply> again = a.store.acquire(request);
        await(a.store.abandon(NAME, request.holderId()));
        await(again);
        assertThat(a.store.remembered()).isZero();
    }

    @Test
    void one_clock_that_jumps_ends_nobodys_hold() {
        Client a = new Client();
        Client b = new Client();
        String holder = a.newId();
        a.granted(holder);
        nodes.get(1).stepClock(Duration.ofMinutes(5));
        b.busy(b.newId());
        assertThat(await(a.renew(holder))).isEqualTo(new RenewReply.Renewed(0));
        // The member was filled in, so the next jump is another member's.
        nodes.get(0).stepClock(Duration.ofMinutes(5));
        b.busy(b.newId());
        assertThat(a.release(holder)).isTrue();
    }

    @Test
    void a_member_that_missed_the_acquisition_is_filled_in_by_the_next_renewal() {
        Client a = new Client();
        a.troubles.get(2).down = true;
        String holder = a.newId();
        a.granted(holder);
        a.troubles.get(2).down = false;
        assertThat(nodes.get(2).size()).isZero();
        await(a.renew(holder));
        assertThat(nodes.get(2).size()).isEqualTo(1);
        assertThat(a.release(holder)).isTrue();
        assertThat(nodes.get(2).size()).isZero();
    }

    @Test
    void a_fill_completes_the_majority_when_another_member_fails_meanwhile() {
        Client a = new Client();
        Client b = new Client();
        a.troubles.get(2).down = true;
        String holder = a.newId();
        a.granted(holder);
        a.troubles.get(2).down = false;
        a.troubles.get(0).down = true;
        assertThat(await(a.renew(holder))).isEqualTo(new RenewReply.Renewed(0));
        time.advance(Duration.ofMillis(LEASE_MILLIS - 200));
        b.busy(b.newId());
    }

    @Test
    void what_a_majority_does_not_know_is_gone_and_not_filled_in() {
        Client a = new Client();
        Client b = new Client();
        String holder = a.newId();
        a.granted(holder);
        b.troubles.get(0).down = true;
        assertThat(await(b.store.forceRelease(NAME, null)).isEnded()).isTrue();
        assertThat(nodes.get(0).size()).isEqualTo(1);
        assertThat(await(a.renew(holder))).isEqualTo(new RenewReply.Gone());
        assertThat(nodes).allMatch(node -> node.size() == 0);
    }

    @Test
    void a_renewal_without_a_majority_either_way_is_an_error() {
        Client a = new Client();
        String holder = a.newId();
        a.granted(holder);
        a.troubles.get(0).stopped = true;
        a.troubles.get(1).down = true;
        assertThat(failure(a.renew(holder))).hasMessageContaining("no majority");
    }

    @Test
    void nothing_is_filled_in_after_the_release() {
        Client a = new Client();
        String holder = a.newId();
        a.troubles.get(2).down = true;
        a.granted(holder);
        a.troubles.get(2).down = false;
        a.troubles.forEach(trouble -> trouble.delayNanosMax = 5_000_000);
        CompletableFuture<RenewReply> renewal = a.renew(holder);
        a.release(holder);
        await(renewal);
        time.advance(Duration.ofSeconds(1));
        assertThat(nodes).allMatch(node -> node.size() == 0);
    }

    @Test
    void a_member_that_restarts_empty_inside_a_lease_does_not_make_a_second_holder() {
        Client a = new Client();
        Client b = new Client();
        // The hold of a is at 0 and 1 only.
        a.troubles.get(2).down = true;
        String holder = a.newId();
        a.granted(holder);
        nodes.get(1).restartEmpty();

        // 1 and 2 are free: without the quarantine that would be a majority for b.
        assertThat(isGranted(b)).isFalse();
        time.advance(Duration.ofSeconds(2));
        assertThat(isGranted(b)).isFalse();
        // That holds even for a client that connects later and never saw the member before its restart.
        Client late = new Client(true);
        assertThat(isGranted(late)).isFalse();

        // The member is back once the longest lease must be over.
        time.advance(LONGEST.plusSeconds(2));
        b.troubles.get(2).down = true;
        b.granted(b.newId());
    }

    private boolean isGranted(Client client) {
        CompletableFuture<Boolean> granted =
                client.take(client.newId()).handle((reply, error) -> reply instanceof Granted);
        return await(granted);
    }

    @Test
    void a_member_that_restarts_with_its_data_is_out_too_as_nobody_knows_whether_it_has_all_of_them() {
        Client a = new Client();
        nodes.get(1).restart();
        time.advance(Duration.ofMillis(10));
        a.troubles.get(2).down = true;
        assertThat(failure(a.take(a.newId()))).hasMessageContaining("does not vote for another");
        time.advance(LONGEST.plusSeconds(2));
        a.granted(a.newId());
    }

    @Test
    void a_new_set_votes_when_all_have_been_up_for_the_longest_lease_or_by_bootstrap_only() {
        Client early = new Client(false);
        assertThat(failure(early.take(early.newId()))).hasMessageContaining("does not vote for another 31 s");
        time.advance(LONGEST.plusSeconds(2));
        early.granted(early.newId());

        QuorumFixture other = new QuorumFixture();
        other.time.advance(LONGEST.plusSeconds(2));
        Client late = other.new Client(false);
        late.granted(late.newId());
    }

    @Test
    void a_set_whose_data_were_all_deleted_is_not_taken_for_a_new_one() {
        time.advance(LONGEST.plusSeconds(2));
        Client a = new Client(false);
        String holder = a.newId();
        a.granted(holder);
        nodes.forEach(MemoryQuorumNode::flush);

        // This client connects later, knows nothing of a, and finds servers without a birth and with a long uptime.
        Client late = new Client(false);
        assertThat(failure(late.take(late.newId()))).hasMessageContaining("does not vote for another 31 s");
        assertThat(isGranted(a)).isFalse();
        time.advance(LONGEST.plusSeconds(2));
        late.granted(late.newId());
    }

    @Test
    void an_acquire_sent_again_after_an_exact_setting_promises_nothing() {
        Client a = new Client();
        String holder = a.newId();
        long base = a.granted(holder).base();
        await(a.store.renew(RenewRequest.set(NAME, holder, 100, 1)));
        assertThat(await(a.take(holder))).isEqualTo(Granted.withoutPromise(base));
    }

    /** With real threads: it is a matter of microseconds which of the two finds what the other has just written. */
    @Test
    void acquires_sent_again_at_the_same_time_are_all_answered() throws Exception {
        Client one = new Client();
        String id = one.newId();
        one.granted(id);
        List<CompletableFuture<?>> replies = new CopyOnWriteArrayList<>();
        Runnable asking = () -> {
            for (int i = 0; i < 20_000; i++) {
                CompletableFuture<?> reply = one.take(id);
                if (!reply.isDone()) {
                    replies.add(reply);
                }
            }
        };
        Thread other = new Thread(asking);
        other.start();
        asking.run();
        other.join();
        assertThat(replies).allMatch(CompletableFuture::isDone);
        assertThat(one.release(id)).isTrue();
    }

    @Test
    void a_release_wakes_the_first_three_waiters_once_and_one_after_the_other() {
        Client holder = new Client();
        String id = holder.newId();
        holder.granted(id);
        List<Client> waiting = new ArrayList<>();
        Map<Client, Integer> told = new HashMap<>();
        List<Long> times = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            Client client = new Client();
            client.onReleased(() -> {
                told.merge(client, 1, Integer::sum);
                times.add(time.nanoTime());
            });
            client.waits(client.newId());
            waiting.add(client);
            time.advance(Duration.ofMillis(10));
        }
        long began = time.nanoTime();
        holder.release(id);
        time.advance(Duration.ofMillis(500));
        // Three servers sent messages to each client.
        assertThat(told).containsOnlyKeys(waiting.get(0), waiting.get(1), waiting.get(2));
        assertThat(told.values()).containsOnly(1);
        assertThat(times.get(0) - began).isBetween(0L, 1_000_000L);
        assertThat(times.get(1) - times.get(0)).isGreaterThan(3_000_000L);
        assertThat(times.get(2) - times.get(1)).isGreaterThan(3_000_000L);
    }

    @Test
    void replicas_of_one_another_and_what_members_say_of_themselves_is_warned_of() {
        List<String> warnings = new ArrayList<>();
        Logger log = Logger.getLogger("io.holdfast.quorum");
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord entry) {
                warnings.add(entry.getMessage());
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        log.addHandler(handler);
        log.setUseParentHandlers(false);
        try {
            QuorumStores.Builder builder = QuorumStores.builder().longestLease(LONGEST);
            for (int i = 0; i < 3; i++) {
                MemoryQuorumNode node = nodes.get(i);
                String dataId = i < 2 ? "same" : "other";
                String doubt = i == 2 ? "forgets everything at lunch time" : "";
                builder.member("m" + i, context -> new ForwardingMember(node.connect(context)) {
                    @Override
                    public CompletionStage<Identity> identify() {
                        return super.identify()
                                .thenApply(who -> new Identity(
                                        who.serverId(),
                                        dataId,
                                        who.standing(),
                                        who.uptimeMillis(),
                                        doubt.isEmpty() ? List.of() : List.of(doubt)));
                    }
                });
            }
            builder.open(new StoreContext("c", time)).close();
        } finally {
            log.removeHandler(handler);
            log.setUseParentHandlers(true);
        }
        assertThat(warnings)
                .anyMatch(said -> said.contains("m0 and m1 replicate one another"))
                .noneMatch(said -> said.contains("m2 replicate"))
                .anyMatch(said -> said.equals("m2 forgets everything at lunch time"));
    }

    @Test
    void the_slowest_member_says_how_long_a_dead_connection_lasts() {
        QuorumStores.Builder builder = QuorumStores.builder().longestLease(LONGEST);
        for (int i = 0; i < 3; i++) {
            MemoryQuorumNode node = nodes.get(i);
            Duration recovery = Duration.ofSeconds(i == 1 ? 9 : 2);
            builder.member("m" + i, context -> new ForwardingMember(node.connect(context)) {
                @Override
                public Duration recovery() {
                    return recovery;
                }
            });
        }
        try (LockStore store = builder.open(new StoreContext("c", time))) {
            assertThat(store.recovery()).isEqualTo(Duration.ofSeconds(9));
        }
    }

    /** Another examination is requested during the first, whose answer is from before a restart. */
    @Test
    void a_member_that_restarts_while_it_is_examined_is_examined_again() {
        Client a = new Client();
        a.troubles.get(1).delayNanosMax = 40_000_000;
        nodes.get(1).restart();
        time.advance(Duration.ofMillis(15));
        nodes.get(1).restartEmpty();
        time.advance(Duration.ofSeconds(3));
        a.troubles.get(1).delayNanosMax = 0;
        a.troubles.get(2).down = true;
        assertThat(failure(a.take(a.newId()))).hasMessageContaining("m1 was restarted or is new");
        time.advance(LONGEST.plusSeconds(2));
        a.granted(a.newId());
    }

    @Test
    void tokens_grow_also_when_the_clients_clock_is_behind_and_the_proposal_is_refused() {
        Client a = new Client();
        Client b = new Client();
        String first = a.newId();
        long before = a.granted(first).base();
        a.release(first);
        time.stepWall(Duration.ofSeconds(-100));
        String second = b.newId();
        long after = b.granted(second).base();
        assertThat(after).isEqualTo(before + 1);
        b.release(second);
        assertThat(a.granted(a.newId()).base()).isGreaterThan(after);
    }

    /**
     * As in seed 12665 of the simulation. A rival has the vote of one member, and its smaller token is accepted there;
     * a larger token that this member accepted by a commit could be over before it gets its majority.
     */
    @Test
    void a_token_is_committed_only_where_its_claim_has_a_vote() {
        Client first = new Client();
        String before = first.newId();
        long token = first.granted(before).base();
        first.release(before);
        time.stepWall(Duration.ofSeconds(-100)); // so that proposals are refused, and must be followed by commits
        QuorumMember rival = nodes.get(0).connect(new StoreContext("rival", time));
        assertThat(rival.take(new QuorumMember.Take(NAME, "rival:0~1", LEASE_MILLIS, 0, token + 5, 0))
                        .toCompletableFuture()
                        .join()
                        .accepted())
                .isTrue();

        Client second = new Client();
        second.troubles.forEach(trouble -> trouble.delayNanosMax = 1_000_000);
        CompletableFuture<AcquireReply> taken = second.take(second.newId());
        while (nodes.get(1).size() + nodes.get(2).size() < 2) {
            time.advance(Duration.ofNanos(1_000));
        }
        assertThat(taken).isNotDone();
        second.troubles.get(2).stopped = true;
        assertThat(failure(taken)).hasMessageContaining("majority");
        assertThat(nodes.get(0).register(NAME).token()).isGreaterThan(token + 5);
        assertThat(nodes.get(1).register(NAME).token()).isGreaterThan(token + 5);
    }

    @Test
    void a_late_request_of_an_earlier_round_does_not_take_a_vote_from_the_present_one() {
        Client a = new Client();
        Client b = new Client();
        String rival = b.newId();
        b.granted(rival);
        String holder = a.newId();
        a.busy(holder);
        b.release(rival);
        // The same holder id again, as the engine polls: at the members it is another id.
        a.granted(holder);
        for (MemoryQuorumNode node : nodes) {
            var member = node.connect(new StoreContext("late", time));
            member.release(NAME, holder + "~1", false);
            assertThat(node.size()).isEqualTo(1);
        }
    }

    @Test
    void a_vote_for_a_request_that_is_executed_after_the_release_of_its_claim_is_given_back() {
        Client a = new Client();
        a.troubles.get(2).lateTakesNanos = Duration.ofSeconds(4).toNanos();
        String holder = a.newId();
        a.granted(holder);
        a.release(holder);
        time.advance(Duration.ofMillis(4_500));
        assertThat(nodes.get(2).size()).isEqualTo(1);
        // Long before its lease of ten seconds is over.
        time.advance(Duration.ofMillis(4_500));
        assertThat(nodes.get(2).size()).isZero();
    }

    @Test
    void a_split_vote_is_tried_again_and_counts_as_busy_for_a_moment_only() {
        Client a = new Client();
        for (int i = 0; i < 2; i++) {
            nodes.get(i)
                    .connect(new StoreContext("rival" + i, time))
                    .take(new Take(NAME, "rival" + i + ":0~0", 5, 0, 1, 0));
        }
        var reply = a.take(a.newId());
        assertThat(reply).isNotCompleted();
        assertThat(await(reply)).isInstanceOf(Granted.class);

        nodes.get(0)
                .connect(new StoreContext("rival0", time))
                .take(new Take("other", "rival0:1~0", LEASE_MILLIS, 0, 1, 0));
        nodes.get(1)
                .connect(new StoreContext("rival1", time))
                .take(new Take("other", "rival1:1~0", LEASE_MILLIS, 0, 1, 0));
        var busy = await(a.store.acquire(AcquireRequest.once("other", a.newId(), LEASE_MILLIS)));
        assertThat(((io.holdfast.spi.AcquireReply.Busy) busy).remainingMillis()).isBetween(1L, 30L);
        assertThat(nodes.get(2).size()).isEqualTo(1); // only the hold on the first name
    }

    @Test
    void a_lease_longer_than_the_longest_is_refused() {
        Client a = new Client();
        var request = AcquireRequest.once(NAME, a.newId(), LONGEST.toMillis() + 1);
        assertThat(failure(a.store.acquire(request)).outcome()).isEqualTo(StoreException.Outcome.FATAL);
    }

    @Test
    void sets_that_are_even_or_too_small_or_name_a_server_twice_are_refused() {
        StoreContext context = new StoreContext("c", time);
        QuorumStores.Builder two =
                QuorumStores.builder().member("a", nodes.get(0)::connect).member("b", nodes.get(1)::connect);
        assertThatThrownBy(() -> two.open(context))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("quorum members: 2 (expected: 3, 5, 7 or 9");
        two.member("c", nodes.get(2)::connect).member("d", nodes.get(2)::connect);
        assertThatThrownBy(() -> two.open(context))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("an odd number");
        QuorumStores.Builder twins = QuorumStores.builder()
                .member("a", nodes.get(0)::connect)
                .member("b", nodes.get(1)::connect)
                .member("c", nodes.get(1)::connect);
        assertThatThrownBy(() -> twins.open(context))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("b and c are the same server");
    }

    @Test
    void a_member_that_cannot_be_reached_at_the_opening_is_seated_when_it_can() throws Exception {
        boolean[] up = new boolean[1];
        QuorumStores.Builder builder =
                QuorumStores.builder().longestLease(LONGEST).bootstrap(true);
        builder.member("m0", nodes.get(0)::connect).member("m1", nodes.get(1)::connect);
        builder.member("m2", context -> {
            if (!up[0]) {
                throw new StoreException(StoreException.Outcome.NOT_EXECUTED, "m2 is down", null);
            }
            return nodes.get(2).connect(context);
        });
        // If one member is unknown, the set cannot be known to be new.
        QuorumLockStore store = (QuorumLockStore) builder.open(new StoreContext("c", time));
        assertThat(failure(store.inspect(NAME))).hasMessageContaining("m2 cannot be reached");
        up[0] = true;
        for (int i = 0; i < 100 && nodes.get(2).register(NAME).token() == 0; i++) {
            time.advance(LONGEST);
            Thread.sleep(5); // it connects on a thread of its own
            store.acquire(AcquireRequest.once(NAME, "c:" + i, 100));
        }
        assertThat(nodes.get(2).register(NAME).token()).isPositive();
        store.close();
    }
}
