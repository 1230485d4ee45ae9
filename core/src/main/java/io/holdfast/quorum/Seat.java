package io.holdfast.quorum;

import io.holdfast.spi.QuorumMember;
import io.holdfast.spi.QuorumMember.Standing;
import io.holdfast.spi.StoreException;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
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
    private final AtomicInteger unanswered = new AtomicInteger();
    private volatile @Nullable QuorumMember member;

    /** The birth found by the last examination; empty before it, and while another one is due. */
    private volatile String birth = "";

    /** What the last examination said the server is; empty before the first. */
    private volatile String serverId = "";

    /** When the last answer said so: for how long it will have no vote. For messages. */
    private volatile long quarantineMillis;

    /** @param onStranger an answer has shown that the member must be examined again */
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

    void examined(String id, String born) {
        serverId = id;
        birth = born;
    }

    void mustBeExamined() {
        birth = "";
    }

    String serverId() {
        return serverId;
    }

    /** Whether an answer with this standing counts. */
    boolean counts(Standing standing) {
        String known = birth;
        quarantineMillis = standing.quarantineMillis();
        if (known.isEmpty()) {
            return false;
        }
        if (!standing.birth().equals(known)) {
            birth = "";
            onStranger.run();
            return false;
        }
        return standing.quarantineMillis() <= 0;
    }

    /** Why the last answer did not count. */
    String whyNoVote() {
        return birth.isEmpty()
                ? description + " is being examined"
                : description + " was restarted or is new and does not vote for another "
                        + (quarantineMillis + 999) / 1_000 + " s";
    }

    /** Sends a command; every failure comes through the stage. */
    <R> CompletionStage<R> send(Function<QuorumMember, CompletionStage<R>> command) {
        QuorumMember present = member;
        if (present == null) {
            return failed(StoreException.Outcome.NOT_EXECUTED, description + " cannot be reached", null);
        }
        if (unanswered.incrementAndGet() > UNANSWERED_MAX) {
            unanswered.decrementAndGet();
            return failed(StoreException.Outcome.NOT_EXECUTED, description + " does not answer", null);
        }
        try {
            return command.apply(present).whenComplete((reply, error) -> unanswered.decrementAndGet());
        } catch (RuntimeException e) {
            unanswered.decrementAndGet();
            return failed(StoreException.Outcome.UNKNOWN, description + " failed: " + e, e);
        }
    }

    /** Sends commands as one batch: a stage for each, whatever happens. */
    <R> List<CompletionStage<R>> sendAll(int count, Function<QuorumMember, List<CompletionStage<R>>> batch) {
        QuorumMember present = member;
        if (present != null) {
            try {
                return batch.apply(present);
            } catch (RuntimeException e) {
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
