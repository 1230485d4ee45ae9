package io.holdfast.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.StoreContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Members that do not answer when asked for their identity, or so late that the answer is no longer true.
 */
@Timeout(60) // it waits for members that are opened
class ExaminationsTest extends QuorumFixture {

    private final List<Silent> members = new ArrayList<>();
    private int ids;
    private @Nullable QuorumLockStore opened;

    /** A member that ignores commands while it is {@link #deaf}, and delays its identity on demand. */
    private static final class Silent extends ForwardingMember {
        volatile boolean deaf;
        volatile boolean late;
        final List<Runnable> heldBack = new CopyOnWriteArrayList<>();
        final AtomicInteger admissions = new AtomicInteger();

        Silent(QuorumMember member) {
            super(member);
        }

        @Override
        public CompletionStage<Vote> take(Take take) {
            return deaf ? new CompletableFuture<>() : super.take(take);
        }

        @Override
        public CompletionStage<Released> release(String name, String id, boolean wake) {
            return deaf ? new CompletableFuture<>() : super.release(name, id, wake);
        }

        @Override
        public CompletionStage<Identity> identify() {
            if (deaf) {
                return new CompletableFuture<>();
            }
            Identity now = super.identify().toCompletableFuture().join();
            CompletableFuture<Identity> answer = new CompletableFuture<>();
            if (late) {
                heldBack.add(() -> answer.complete(now));
            } else {
                answer.complete(now);
            }
            return answer;
        }

        @Override
        public CompletionStage<Standing> admit(long quarantineMillis) {
            admissions.incrementAndGet();
            return super.admit(quarantineMillis);
        }
    }

    private QuorumStores.Builder builder() {
        QuorumStores.Builder builder = QuorumStores.builder().bootstrap(true).longestLease(LONGEST);
        for (int i = 0; i < nodes.size(); i++) {
            int index = i;
            builder.member("m" + i, context -> {
                Silent member = new Silent(nodes.get(index).connect(context));
                synchronized (members) {
                    members.add(member);
                    members.sort(Comparator.comparing(QuorumMember::describe));
                }
                return member;
            });
        }
        return builder;
    }

    private QuorumLockStore open() {
        QuorumLockStore store = (QuorumLockStore) builder().open(new StoreContext("c", time));
        opened = store;
        return store;
    }

    @AfterEach
    void close() {
        if (opened != null) {
            opened.close();
        }
    }

    private CompletableFuture<AcquireReply> take(QuorumLockStore store) {
        return store.acquire(AcquireRequest.once(NAME + ids, "c:" + ids++, 1_000))
                .toCompletableFuture();
    }

    @Test
    void a_member_that_never_says_its_identity_is_asked_once_more() {
        QuorumLockStore store = open();
        members.get(1).deaf = true;
        nodes.get(1).restart();
        time.advance(Duration.ofSeconds(1));
        members.get(1).deaf = false;
        time.advance(Duration.ofSeconds(15));
        time.advance(LONGEST.plusSeconds(2));
        members.get(2).deaf = true;
        assertThat(await(take(store))).isInstanceOf(Granted.class);
    }

    @Test
    void an_answer_that_was_given_up_changes_nothing() {
        QuorumLockStore store = open();
        members.get(1).late = true;
        nodes.get(1).restart();
        time.advance(Duration.ofSeconds(1));
        members.get(1).late = false;
        time.advance(Duration.ofSeconds(15));
        nodes.get(1).restartEmpty();
        members.get(1).deaf = true;
        time.advance(Duration.ofSeconds(1));
        members.get(1).heldBack.forEach(Runnable::run);
        members.get(1).deaf = false;
        members.get(2).deaf = true;
        assertThat(failure(take(store))).hasMessageContaining("m1 is being examined");
    }

    /** Nothing reports that the member is gone. Only the time shows that its old answer may no longer be true. */
    @Test
    void an_answer_that_was_given_up_admits_nobody() {
        QuorumLockStore store = open();
        Silent member = members.get(1);
        member.late = true;
        nodes.get(1).restartEmpty();
        time.advance(Duration.ofSeconds(1));
        assertThat(member.heldBack).hasSize(1);
        member.late = false;
        member.deaf = true;
        time.advance(Duration.ofSeconds(15));
        int before = member.admissions.get();
        member.heldBack.forEach(Runnable::run);
        time.advance(Duration.ofMillis(1));
        assertThat(member.admissions).hasValue(before);
        member.deaf = false;
        members.get(2).deaf = true;
        assertThat(failure(take(store))).hasMessageContaining("m1 is being examined");
    }

    /** No more commands are sent to a member that hangs; but that must not last forever. */
    @Test
    void a_member_that_has_left_very_many_commands_unanswered_is_used_again_when_it_answers() {
        QuorumLockStore store = open();
        members.get(1).deaf = true;
        for (int i = 0; i < 1_100; i++) {
            var unused = take(store);
        }
        members.get(1).deaf = false;
        time.advance(Duration.ofSeconds(15));
        members.get(2).deaf = true;
        assertThat(await(take(store))).isInstanceOf(Granted.class);
    }

    /** A member restarts with its data, perhaps not all, while the opening waits for another member's answer. */
    @Test
    void a_member_that_is_another_before_the_opening_has_seated_it_does_not_vote() throws Exception {
        // Births that an earlier client wrote.
        open().close();
        members.clear();
        QuorumStores.Builder builder = QuorumStores.builder().longestLease(LONGEST);
        builder.member("m0", context -> add(nodes.get(0).connect(context), false));
        builder.member("m1", context -> add(nodes.get(1).connect(context), false));
        builder.member("m2", context -> add(nodes.get(2).connect(context), true));
        CompletableFuture<QuorumLockStore> opening =
                CompletableFuture.supplyAsync(() -> (QuorumLockStore) builder.open(new StoreContext("d", time)));
        Silent last = member("m2");
        while (last.heldBack.isEmpty()) {
            Thread.sleep(5);
        }
        Silent restarted = member("m1");
        restarted.late = true;
        nodes.get(1).restart();
        time.advance(Duration.ofMillis(1));
        assertThat(restarted.heldBack).hasSize(1);
        last.heldBack.forEach(Runnable::run);
        QuorumLockStore store = opening.join();
        opened = store;
        last.deaf = true;
        assertThat(failure(take(store))).hasMessageContaining("m1 is being examined");
    }

    private Silent add(QuorumMember connected, boolean late) {
        Silent member = new Silent(connected);
        member.late = late;
        synchronized (members) {
            members.add(member);
        }
        return member;
    }

    private Silent member(String description) throws InterruptedException {
        while (true) {
            synchronized (members) {
                for (Silent member : members) {
                    if (member.describe().equals(description)) {
                        return member;
                    }
                }
            }
            Thread.sleep(5);
        }
    }
}
