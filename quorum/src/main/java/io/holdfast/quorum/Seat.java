package io.holdfast.quorum;

import static java.util.Objects.requireNonNull;

import io.holdfast.quorum.QuorumMember.Standing;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreException.Outcome;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A member's place in the quorum: empty while the member could not be reached, and without a vote until the member was
 * examined.
 *
 * <p>Invariant: an answer counts only if it carries the birth that the examination found, and no quarantine. A member
 * that has lost its data answers without that birth, so it loses its vote with that answer.
 */
final class Seat {

    /** A member with more unanswered commands hangs. Further commands would only fill memory. */
    private static final int UNANSWERED_MAX = 1_000;

    final int index;
    final String description;

    private final Runnable onDoubt;

    /** Replaced when a member that hung answers again, because the old commands may never be answered. */
    private volatile AtomicInteger unanswered = new AtomicInteger();

    /** Whether the member has had too many unanswered commands since it was last examined. */
    private final AtomicBoolean hangs = new AtomicBoolean();

    private volatile @Nullable QuorumMember member;

    /**
     * The result of the last examination.
     *
     * @param serverId the id of the member's server; empty before the first examination
     * @param birth empty before the first examination, and while another examination is due
     * @param doubts how many times another examination has become due since the opening
     */
    private record Known(String serverId, String birth, int doubts) {}

    private final AtomicReference<Known> known = new AtomicReference<>(new Known("", "", 0));

    /** For how long the member has no vote, as its last answer said; for messages. */
    private volatile long quarantineMillis;

    /** @param onDoubt runs when the member must be examined again */
    Seat(int index, String description, Runnable onDoubt) {
        this.index = index;
        this.description = description;
        this.onDoubt = onDoubt;
    }

    void occupy(QuorumMember opened) {
        member = opened;
    }

    @Nullable
    QuorumMember member() {
        return member;
    }

    /**
     * Ends an examination. Its result is ignored if the member may have become another server since it began.
     *
     * @param doubtsBefore the {@link #doubts} when the examination began
     */
    void examined(String serverId, String birth, int doubtsBefore) {
        Known found = new Known(serverId, birth, doubtsBefore);
        Known now = known.updateAndGet(before -> before.doubts() == doubtsBefore ? found : before);
        if (now.doubts() == doubtsBefore && hangs.get()) {
            unanswered = new AtomicInteger();
            hangs.set(false);
        }
    }

    void mustBeExamined() {
        known.updateAndGet(before -> new Known(before.serverId(), "", before.doubts() + 1));
    }

    private Known known() {
        return requireNonNull(known.get());
    }

    /** Returns a number that grows whenever the member may have become another server. */
    int doubts() {
        return known().doubts();
    }

    String serverId() {
        return known().serverId();
    }

    /** Returns whether an answer with this standing counts. */
    boolean counts(Standing standing) {
        String birth = known().birth();
        quarantineMillis = standing.quarantineMillis();
        if (birth.isEmpty()) {
            return false;
        }
        if (!standing.birth().equals(birth)) {
            mustBeExamined();
            onDoubt.run();
            return false;
        }
        return standing.quarantineMillis() <= 0;
    }

    /** Returns why the last answer did not count. */
    String noVoteReason() {
        return known().birth().isEmpty()
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
                // Only an examination can find out when the member answers again.
                onDoubt.run();
            }
            return failed(Outcome.NOT_EXECUTED, description + " does not answer", null);
        }
        return sendAnyway(command).whenComplete((reply, error) -> counter.decrementAndGet());
    }

    /** Sends a command regardless of the number of unanswered ones. */
    <R> CompletionStage<R> sendAnyway(Function<QuorumMember, CompletionStage<R>> command) {
        return sendAll(1, present -> List.of(requireNonNull(command.apply(present), "no answer")))
                .get(0);
    }

    /** Sends commands as one batch and returns a stage for each, even when the batch fails. */
    <R> List<CompletionStage<R>> sendAll(int count, Function<QuorumMember, List<CompletionStage<R>>> batch) {
        QuorumMember present = member;
        CompletionStage<R> failure;
        if (present == null) {
            failure = failed(Outcome.NOT_EXECUTED, description + " cannot be reached", null);
        } else {
            try {
                return requireNonNull(batch.apply(present), "no answers");
            } catch (Throwable e) {
                // Catches errors too: a caller that waits for the stage would wait forever.
                failure = failed(Outcome.UNKNOWN, description + " failed: " + e, e);
            }
        }
        return Collections.nCopies(count, failure);
    }

    private static <R> CompletionStage<R> failed(Outcome outcome, String message, @Nullable Throwable cause) {
        return CompletableFuture.failedFuture(new StoreException(outcome, message, cause));
    }
}
