package io.holdfast.quorum;

import io.holdfast.quorum.QuorumMember.Identity;
import io.holdfast.spi.ClassPathFailures;
import io.holdfast.spi.DaemonThreads;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StageWait;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreException.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Opens the store: connects to the members, finds out which servers they are, and decides which may vote. Runs on the
 * caller's thread. Opening a member blocks, so each is opened on a short-lived daemon thread.
 */
final class QuorumOpening {

    /** A member that is not open yet. */
    record Candidate(String description, Function<StoreContext, QuorumMember> opener) {}

    private static final System.Logger LOG = System.getLogger("io.holdfast.quorum");

    /** How long to wait for a majority of the members, and for each answer. */
    private static final long PATIENCE_MILLIS = 30_000;

    /** How long to wait for the other members once a majority has answered. */
    private static final long GRACE_MILLIS = 1_000;

    /** How often to look at a new set that another client may be admitting at the same time. */
    private static final int LOOKS = 5;

    private static final long BETWEEN_LOOKS_NANOS = 200_000_000;
    private static final long RETRY_NANOS = 1_000_000_000;

    private final List<Candidate> candidates;
    private final QuorumSettings settings;
    private final StoreContext context;
    private final String description;
    private final List<Seat> seats = new ArrayList<>();
    private final Members members;
    private final Examinations examinations;
    private final Wakeups wakeups;

    /** The seats' doubts before their members were asked which servers they are. */
    private final int[] doubts;

    QuorumOpening(List<Candidate> candidates, QuorumSettings settings, StoreContext context) {
        this.candidates = List.copyOf(candidates);
        this.settings = settings.copy();
        this.context = context;
        this.description =
                candidates.stream().map(Candidate::description).collect(Collectors.joining(", ", "redlock of ", ""));
        this.examinations = new Examinations(context.time(), this.settings, seats);
        for (Candidate candidate : candidates) {
            int index = seats.size();
            seats.add(new Seat(index, candidate.description(), () -> examinations.examine(index)));
        }
        this.doubts = new int[seats.size()];
        this.members = new Members(description, seats, context.time(), this.settings);
        this.wakeups = new Wakeups(members);
    }

    LockStore open() {
        List<CompletableFuture<QuorumMember>> opening =
                seats.stream().map(this::connect).toList();
        try {
            awaitMajority(opening);
            List<@Nullable Identity> identities = identify();
            refuseTwins(identities);
            int looks = settings.bootstrap ? LOOKS : 1;
            for (int look = 1; look < looks && Quarantine.mayBeEndingElsewhere(identities); look++) {
                LockSupport.parkNanos(BETWEEN_LOOKS_NANOS);
                identities = identify();
            }
            admit(identities);
        } catch (RuntimeException | Error e) {
            // A member may have reconnected in the meantime, and would be examined forever.
            examinations.close();
            // Also closes members that open later.
            for (CompletionStage<QuorumMember> member : opening) {
                member.thenAccept(QuorumMember::close);
            }
            throw e;
        }
        for (Seat seat : seats) {
            if (seat.member() == null) {
                seatWhenOpened(seat, opening.get(seat.index));
            } else if (seat.serverId().isEmpty()) {
                // The member was opened in time, but did not answer in time.
                examinations.examine(seat.index);
            }
        }
        return new QuorumLockStore(members, examinations, wakeups);
    }

    // --- connections ---

    private CompletableFuture<QuorumMember> connect(Seat seat) {
        CompletableFuture<QuorumMember> opened = new CompletableFuture<>();
        Runnable open = () -> {
            try {
                opened.complete(candidates.get(seat.index).opener().apply(context));
            } catch (Throwable e) {
                opened.completeExceptionally(e);
            }
        };
        DaemonThreads.unstarted("holdfast-connect " + seat.description, open).start();
        return opened;
    }

    private void awaitMajority(List<CompletableFuture<QuorumMember>> opening) {
        int majority = Members.majority(opening.size());
        CompletableFuture<Boolean> enough = new CompletableFuture<>();
        AtomicInteger successes = new AtomicInteger();
        for (CompletionStage<QuorumMember> each : opening) {
            each.thenAccept(member -> {
                if (successes.incrementAndGet() == majority) {
                    enough.complete(true);
                }
            });
        }
        CompletableFuture<Void> all = CompletableFuture.allOf(opening.toArray(new CompletableFuture<?>[0]));
        CompletableFuture<?> first = CompletableFuture.anyOf(all, enough);
        await(first, PATIENCE_MILLIS);
        if (first.isDone()) {
            // Only a set of which all members were seen can be found new.
            await(all, settings.bootstrap ? PATIENCE_MILLIS : GRACE_MILLIS);
        }
        int opened = 0;
        for (Seat seat : seats) {
            CompletableFuture<QuorumMember> member = opening.get(seat.index);
            if (member.isDone() && !member.isCompletedExceptionally()) {
                occupy(seat, member.join());
                opened++;
            }
        }
        if (opened < majority) {
            throw tooFew(opened, opening);
        }
    }

    private StoreException tooFew(int opened, List<CompletableFuture<QuorumMember>> opening) {
        List<String> reasons = new ArrayList<>();
        Outcome outcome = Outcome.NOT_EXECUTED;
        for (Seat seat : seats) {
            CompletableFuture<QuorumMember> member = opening.get(seat.index);
            if (!member.isDone()) {
                reasons.add(seat.description + " does not answer");
            } else if (member.isCompletedExceptionally()) {
                Throwable error = member.handle((none, failure) -> failure).join();
                StoreException classPath =
                        error instanceof LinkageError ? ClassPathFailures.find(error, seat.description) : null;
                Throwable why = classPath == null ? error : classPath;
                reasons.add(String.valueOf(why.getMessage()));
                if (why instanceof StoreException known && known.outcome() == Outcome.FATAL) {
                    outcome = Outcome.FATAL;
                }
            }
        }
        return new StoreException(
                outcome,
                "Of the " + opening.size() + " members of " + description + " only " + opened
                        + " can be used (a majority is needed): " + String.join("; ", reasons),
                null);
    }

    private void occupy(Seat seat, QuorumMember member) {
        member.listen(wakeups.of(seat, () -> examinations.examine(seat.index)));
        seat.occupy(member);
    }

    /** Gives a late member its seat when it is connected, and continues to connect until then. */
    private void seatWhenOpened(Seat seat, CompletionStage<QuorumMember> opening) {
        opening.whenComplete((member, error) -> {
            if (error == null) {
                occupy(seat, member);
                if (examinations.isClosed()) {
                    member.close();
                } else {
                    examinations.examine(seat.index);
                }
            } else if (!examinations.isClosed()) {
                context.time().schedule(RETRY_NANOS, () -> {
                    if (!examinations.isClosed()) {
                        seatWhenOpened(seat, connect(seat));
                    }
                });
            }
        });
    }

    // --- identities ---

    private List<@Nullable Identity> identify() {
        List<@Nullable CompletionStage<Identity>> asked = new ArrayList<>();
        for (Seat seat : seats) {
            doubts[seat.index] = seat.doubts();
            asked.add(seat.member() == null ? null : seat.send(QuorumMember::identify));
        }
        List<@Nullable Identity> identities = new ArrayList<>();
        for (CompletionStage<Identity> answer : asked) {
            identities.add(answer == null ? null : await(answer, PATIENCE_MILLIS));
        }
        return identities;
    }

    private void refuseTwins(List<@Nullable Identity> identities) {
        for (int i = 0; i < identities.size(); i++) {
            Identity one = identities.get(i);
            for (int j = i + 1; one != null && j < identities.size(); j++) {
                Identity other = identities.get(j);
                String both = seats.get(i).description + " and " + seats.get(j).description;
                if (other != null && one.serverId().equals(other.serverId())) {
                    throw new IllegalArgumentException("quorum members: " + both
                            + " are the same server (expected: each server once, or its vote would count twice)");
                }
                if (other != null && !one.dataId().isEmpty() && one.dataId().equals(other.dataId())) {
                    LOG.log(
                            System.Logger.Level.WARNING,
                            both + " replicate one another, so they are not independent: what one loses, both lose");
                }
            }
        }
    }

    private void admit(List<@Nullable Identity> identities) {
        long quarantine = Quarantine.millis(identities, settings.quarantineMillis(), settings.bootstrap);
        for (Seat seat : seats) {
            Identity identity = identities.get(seat.index);
            if (identity != null) {
                examinations.logDoubts(seat, identity);
                CompletionStage<?> admitted = examinations.admit(seat, identity, doubts[seat.index], quarantine);
                await(admitted, PATIENCE_MILLIS);
            }
        }
    }

    /** Returns the answer, or null if it failed or is late. The member is then examined in the background. */
    private <T> @Nullable T await(CompletionStage<T> answer, long millis) {
        try {
            return StageWait.await(answer, Duration.ofMillis(millis));
        } catch (ExecutionException | CompletionException | TimeoutException e) {
            return null;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StoreException(Outcome.NOT_EXECUTED, "Interrupted while connecting to " + description, e);
        }
    }
}
