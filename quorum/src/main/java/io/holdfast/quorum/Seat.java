package io.holdfast.quorum;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.QuorumMember;
import io.holdfast.spi.QuorumMember.Standing;
import io.holdfast.spi.StoreException;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A member's place in the quorum: empty while the member could not be reached, and without a vote until it was examined.
 *
 * <p>Invariant: an answer counts only if it carries the birth that the examination found, and no quarantine. So a member
 * that has lost its data, which has no birth or another one, has no vote from that very answer on.
 */
final class Seat {

    /** More unanswered commands say that the member hangs; they would only fill memory. */
    private static final int UNANSWERED_MAX = 1_000;

    final int index;
    final String description;

    private final Runnable onStranger;

    /** A new one when a member answers again that has left too many unanswered: those may never be. */
    private volatile AtomicInteger unanswered = new AtomicInteger();

    /** Whether it has left too many commands unanswered since it was last examined. */
    private final AtomicBoolean hangs = new AtomicBoolean();

    private volatile @Nullable QuorumMember member;

    /**
     * What the last examination has found.
     *
     * @param birth empty before the first one, and while another one is due
     * @param doubts how often it was found since the opening that another one is due
     */
    private record Known(String birth, int doubts) {}

    private final ReentrantLock lock = new ReentrantLock();

    private volatile Known known = new Known("", 0); // written by lock

    /** What the last examination said the server is; empty before the first. */
    private volatile String serverId = "";

    /** When the last answer said so: for how long it will have no vote. For messages. */
    private volatile long quarantineMillis;

    /** @param onStranger it has shown that the member must be examined again */
    Seat(int index, String description, Runnable onStranger) {
        this.index = index;
        this.description = description;
        this.onStranger = onStranger;
    }

    void occupy(QuorumMember opened) {
        member = opened;
    }

    @Nullable
    QuorumMember member() {
        return member;
    }

    /**
     * The end of an examination. It is of no use if the member may have become another since it began.
     *
     * @param doubtsBefore the {@link #doubts} when it began
     */
    void examined(String id, String born, int doubtsBefore) {
        lock.lock();
        try {
            if (known.doubts() == doubtsBefore) {
                known = new Known(born, doubtsBefore);
                serverId = id;
                if (hangs.get()) {
                    unanswered = new AtomicInteger();
                    hangs.set(false);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    void mustBeExamined() {
        lock.lock();
        try {
            known = new Known("", known.doubts() + 1);
        } finally {
            lock.unlock();
        }
    }

    /** Grows whenever the member may be another than it was. */
    int doubts() {
        return known.doubts();
    }

    String serverId() {
        return serverId;
    }

    /** Whether an answer with this standing counts. */
    boolean counts(Standing standing) {
        String birth = known.birth();
        quarantineMillis = standing.quarantineMillis();
        if (birth.isEmpty()) {
            return false;
        }
        if (!standing.birth().equals(birth)) {
            mustBeExamined();
            onStranger.run();
            return false;
        }
        return standing.quarantineMillis() <= 0;
    }

    /** Why the last answer did not count. */
    String whyNoVote() {
        return known.birth().isEmpty()
                ? description + " is being examined"
                : description + " was restarted or is new and does not vote for another "
                        + (quarantineMillis + 999) / 1_000 + " s";
    }

    /** Sends a command; every failure comes through the stage. */
    <R> CompletionStage<R> send(Function<QuorumMember, CompletionStage<R>> command) {
        AtomicInteger counter = unanswered;
        if (counter.incrementAndGet() > UNANSWERED_MAX) {
            counter.decrementAndGet();
            if (hangs.compareAndSet(false, true)) {
                // Nothing else would find out when it answers again.
                onStranger.run();
            }
            return failed(StoreException.Outcome.NOT_EXECUTED, description + " does not answer", null);
        }
        return sendAnyway(command).whenComplete((reply, error) -> counter.decrementAndGet());
    }

    /** Sends a command however many are unanswered. */
    <R> CompletionStage<R> sendAnyway(Function<QuorumMember, CompletionStage<R>> command) {
        QuorumMember present = member;
        if (present == null) {
            return failed(StoreException.Outcome.NOT_EXECUTED, description + " cannot be reached", null);
        }
        try {
            return requireNonNull(command.apply(present), "no answer");
        } catch (Throwable e) {
            // Errors, too: whoever waits for the stage would wait for ever.
            return failed(StoreException.Outcome.UNKNOWN, description + " failed: " + e, e);
        }
    }

    /** Sends commands as one batch: a stage for each, whatever happens. */
    <R> List<CompletionStage<R>> sendAll(int count, Function<QuorumMember, List<CompletionStage<R>>> batch) {
        QuorumMember present = member;
        if (present != null) {
            try {
                return requireNonNull(batch.apply(present), "no answers");
            } catch (Throwable e) {
                return Collections.nCopies(
                        count, failed(StoreException.Outcome.UNKNOWN, description + " failed: " + e, e));
            }
        }
        return Collections.nCopies(
                count, failed(StoreException.Outcome.NOT_EXECUTED, description + " cannot be reached", null));
    }

    private static <R> CompletionStage<R> failed(
            StoreException.Outcome outcome, String message, @Nullable Throwable cause) {
        return CompletableFuture.failedFuture(new StoreException(outcome, message, cause));
    }
}
