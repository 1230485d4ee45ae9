package io.holdfast.quorum;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.QuorumMember;
import io.holdfast.spi.QuorumMember.Identity;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Opens the store: connects to the members, sees who they are, and decides who may vote. Runs on the caller's thread. */
final class QuorumOpening {

    private static final System.Logger LOG = System.getLogger("io.holdfast.quorum");

    /** How long those that have not answered are waited for once a majority has. */
    private static final long GRACE_MILLIS = 1_000;

    /** How often, and after how long, to look again at a new set that another client may be admitting just now. */
    private static final int LOOKS = 5;

    private static final long BETWEEN_LOOKS_NANOS = 200_000_000;

    private final List<Function<StoreContext, QuorumMember>> openers;
    private final QuorumSettings settings;
    private final StoreContext context;
    private final String description;
    private final List<Seat> seats = new ArrayList<>();
    private final Members members;
    private final Examinations examinations;
    private final Wakeups wakeups;

    /** The seats' doubts from before they were asked who sits there. */
    private final int[] doubts;

    QuorumOpening(
            List<String> descriptions,
            List<Function<StoreContext, QuorumMember>> openers,
            QuorumSettings settings,
            StoreContext context) {
        this.openers = openers;
        this.settings = settings.copy();
        this.context = context;
        this.description = "redlock of " + String.join(", ", descriptions);
        this.examinations = new Examinations(context.time(), this.settings, seats);
        for (int i = 0; i < descriptions.size(); i++) {
            int index = i;
            seats.add(new Seat(i, descriptions.get(i), () -> examinations.examine(index)));
        }
        this.doubts = new int[seats.size()];
        this.members = new Members(description, seats, context.time(), this.settings);
        this.wakeups = new Wakeups(members);
    }

    LockStore open() {
        List<CompletableFuture<QuorumMember>> opening = new ArrayList<>();
        for (int i = 0; i < openers.size(); i++) {
            opening.add(Connecting.start(seats.get(i), openers.get(i), context));
        }
        try {
            awaitMajority(opening);
            List<@Nullable Identity> identities = identify();
            refuseTwins(identities);
            for (int look = 1; look < LOOKS && hopesForBootstrap(identities); look++) {
                LockSupport.parkNanos(BETWEEN_LOOKS_NANOS);
                identities = identify();
            }
            admit(identities);
        } catch (RuntimeException | Error e) {
            // One may have reconnected meanwhile, and would be examined for ever.
            examinations.close();
            // Also those that open later.
            for (CompletionStage<QuorumMember> future : opening) {
                future.thenAccept(QuorumMember::close);
            }
            throw e;
        }
        for (int i = 0; i < openers.size(); i++) {
            keepOpening(i, opening.get(i));
        }
        return new QuorumLockStore(members, examinations, wakeups, context.clientId());
    }

    private boolean hopesForBootstrap(List<@Nullable Identity> identities) {
        return settings.bootstrap && Admission.mayBeUnderWay(identities);
    }

    private void awaitMajority(List<CompletableFuture<QuorumMember>> opening) {
        CompletableFuture<?> all = CompletableFuture.allOf(opening.toArray(new CompletableFuture<?>[0]));
        CompletableFuture<?> enough = Connecting.successes(opening, Majority.of(opening.size()));
        try {
            try {
                CompletableFuture.anyOf(all.exceptionally(failure -> null), enough)
                        .get(settings.connectPatience.toMillis(), TimeUnit.MILLISECONDS);
                // A set that is to be found new must be seen as a whole.
                long grace = settings.bootstrap ? settings.connectPatience.toMillis() : GRACE_MILLIS;
                all.get(grace, TimeUnit.MILLISECONDS);
            } catch (ExecutionException | TimeoutException e) {
                // Some have failed or are late; the majority decides.
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StoreException(
                    StoreException.Outcome.NOT_EXECUTED, "Interrupted while connecting to " + description, e);
        }
        int opened = 0;
        for (int i = 0; i < opening.size(); i++) {
            if (opening.get(i).isDone() && !opening.get(i).isCompletedExceptionally()) {
                occupy(i, opening.get(i).join());
                opened++;
            }
        }
        if (opened < Majority.of(opening.size())) {
            throw tooFew(opened, opening);
        }
    }

    private StoreException tooFew(int opened, List<CompletableFuture<QuorumMember>> opening) {
        List<String> reasons = new ArrayList<>();
        StoreException.Outcome outcome = StoreException.Outcome.NOT_EXECUTED;
        for (int i = 0; i < opening.size(); i++) {
            if (!opening.get(i).isDone()) {
                reasons.add(seats.get(i).description + " does not answer");
            } else if (opening.get(i).isCompletedExceptionally()) {
                Throwable why = Connecting.failure(opening.get(i));
                reasons.add(String.valueOf(why.getMessage()));
                if (why instanceof StoreException known && known.outcome() == StoreException.Outcome.FATAL) {
                    outcome = StoreException.Outcome.FATAL;
                }
            }
        }
        return new StoreException(
                outcome,
                "Of the " + opening.size() + " members of " + description + " only " + opened
                        + " can be used (a majority is needed): " + String.join("; ", reasons),
                null);
    }

    private void occupy(int index, QuorumMember member) {
        Seat seat = seats.get(index);
        member.listen(wakeups.of(seat, () -> examinations.examine(index)));
        seat.occupy(member);
    }

    /** A member that was not there in time is given its seat when it comes. */
    private void keepOpening(int index, CompletableFuture<QuorumMember> opening) {
        Seat seat = seats.get(index);
        if (seat.member() != null) {
            if (seat.serverId().isEmpty()) {
                // It came in time, and did not answer in time.
                examinations.examine(index);
            }
            return;
        }
        Connecting.until(
                context.time(),
                opening,
                () -> Connecting.start(seat, openers.get(index), context),
                member -> {
                    occupy(index, member);
                    if (examinations.isClosed()) {
                        member.close();
                    } else {
                        examinations.examine(index);
                    }
                },
                examinations::isClosed);
    }

    // --- who they are ---

    private List<@Nullable Identity> identify() {
        List<@Nullable CompletionStage<Identity>> asked = new ArrayList<>();
        for (Seat seat : seats) {
            doubts[seat.index] = seat.doubts();
            asked.add(seat.member() == null ? null : seat.send(QuorumMember::identify));
        }
        List<@Nullable Identity> identities = new ArrayList<>();
        for (CompletionStage<Identity> answer : asked) {
            identities.add(answer == null ? null : await(answer));
        }
        return identities;
    }

    private void refuseTwins(List<@Nullable Identity> identities) {
        for (int i = 0; i < identities.size(); i++) {
            Identity one = identities.get(i);
            for (int j = i + 1; one != null && j < identities.size(); j++) {
                Identity other = identities.get(j);
                if (other != null && one.serverId().equals(other.serverId())) {
                    throw new IllegalArgumentException(
                            "quorum members: " + seats.get(i).description + " and " + seats.get(j).description
                                    + " are the same server (expected: each server once, or its vote would count twice)");
                }
                if (other != null && !one.dataId().isEmpty() && one.dataId().equals(other.dataId())) {
                    LOG.log(
                            System.Logger.Level.WARNING,
                            seats.get(i).description + " and " + seats.get(j).description
                                    + " replicate one another, so they are not independent: what one loses, both lose");
                }
            }
        }
    }

    private void admit(List<@Nullable Identity> identities) {
        long quarantine = Admission.quarantineMillis(identities, settings.quarantineMillis(), settings.bootstrap);
        for (Seat seat : seats) {
            Identity identity = identities.get(seat.index);
            if (identity != null) {
                examinations.warn(seat, identity);
                CompletionStage<?> admitted = examinations.admit(seat, identity, doubts[seat.index], quarantine);
                await(admitted);
            }
        }
    }

    /** The answer, or null if there is none in time: then the member is examined again in the background. */
    private <T> @Nullable T await(CompletionStage<T> answer) {
        try {
            return answer.toCompletableFuture().get(settings.connectPatience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException | CompletionException | TimeoutException e) {
            return null;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StoreException(
                    StoreException.Outcome.NOT_EXECUTED, "Interrupted while connecting to " + description, e);
        }
    }
}
