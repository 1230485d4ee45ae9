package io.holdfast.console;

import io.holdfast.ClientCard;
import io.holdfast.ClientCard.Activity;
import io.holdfast.ClientCard.HeldLock;
import io.holdfast.ClientCard.PermitsUse;
import io.holdfast.ClientCard.ReadWriteUse;
import io.holdfast.ClientCard.WaitedLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Makes cards of clients whose ids are {@code hf-} and their names. */
final class TestCards {

    private final String name;
    private final List<HeldLock> held = new ArrayList<>();
    private final List<WaitedLock> waiting = new ArrayList<>();
    private final List<PermitsUse> permits = new ArrayList<>();
    private final List<ReadWriteUse> readWrite = new ArrayList<>();
    private final List<Activity> busiest = new ArrayList<>();
    private Duration heard = Duration.ofSeconds(1);
    private OptionalLong owner = OptionalLong.of(1);

    private TestCards(String name) {
        this.name = name;
    }

    static TestCards of(String name) {
        return new TestCards(name);
    }

    TestCards heard(int secondsAgo) {
        heard = Duration.ofSeconds(secondsAgo);
        return this;
    }

    /** Sets the owner of the holds and waits that follow; 1 is the first one's. */
    TestCards thread(long number) {
        owner = OptionalLong.of(number);
        return this;
    }

    /** The holds that follow may be released by any thread, and the waits that follow are of no thread. */
    TestCards anyThread() {
        owner = OptionalLong.empty();
        return this;
    }

    TestCards holds(String lock, long token) {
        return holds(lock, token, null, null, 0);
    }

    TestCards holds(String lock, long token, String thread, Duration remaining, int waiters) {
        held.add(new HeldLock(
                lock,
                "hf-" + name + ":" + token,
                token,
                Duration.ofSeconds(30),
                Optional.ofNullable(remaining),
                waiters,
                waiters == 0 ? Duration.ZERO : Duration.ofSeconds(2),
                Optional.ofNullable(thread),
                Optional.of("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
                owner));
        return this;
    }

    TestCards waits(String lock, int seconds) {
        return waits(lock, seconds, 1, null);
    }

    TestCards waits(String lock, int seconds, int waiters, String thread) {
        waiting.add(new WaitedLock(
                lock, Duration.ofSeconds(seconds), waiters, Optional.empty(), Optional.ofNullable(thread), owner));
        return this;
    }

    TestCards acquired(String lock, long leases, long handedOn) {
        busiest.add(new Activity(lock, leases, handedOn, 0, Duration.ZERO));
        return this;
    }

    TestCards permits(String ofName, int limit, int leases, int permitsHeld, int waiters) {
        permits.add(new PermitsUse(
                ofName,
                limit,
                leases,
                permitsHeld,
                leases == 0 ? Duration.ZERO : Duration.ofSeconds(20),
                waiters,
                waiters == 0 ? Duration.ZERO : Duration.ofSeconds(3)));
        return this;
    }

    TestCards reads(String ofName, int leases, int waiters) {
        return uses(ofName, false, leases, waiters);
    }

    TestCards writes(String ofName, int leases, int waiters) {
        return uses(ofName, true, leases, waiters);
    }

    private TestCards uses(String ofName, boolean isWriter, int leases, int waiters) {
        readWrite.add(new ReadWriteUse(
                ofName,
                isWriter,
                leases,
                leases == 0 ? Duration.ZERO : Duration.ofSeconds(20),
                leases == 0 ? Optional.empty() : Optional.of("hf-" + name + ":" + leases),
                leases == 0 ? OptionalLong.empty() : owner,
                waiters,
                waiters == 0 ? Duration.ZERO : Duration.ofSeconds(3),
                waiters == 0 ? OptionalLong.empty() : owner));
        return this;
    }

    ClientCard card() {
        return new ClientCard(
                "hf-" + name,
                name,
                "pod",
                1,
                "1.0",
                heard,
                held,
                held.size(),
                waiting,
                waiting.size(),
                permits,
                readWrite,
                busiest);
    }
}
