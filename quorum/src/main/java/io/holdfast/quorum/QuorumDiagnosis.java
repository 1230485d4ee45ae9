package io.holdfast.quorum;

import io.holdfast.quorum.QuorumMember.Identity;
import io.holdfast.spi.Finding;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/** Examines each member for a person, and what only a comparison of the members shows. */
final class QuorumDiagnosis {

    /** How long to wait for a member, which may never answer. A member measures its clock for some seconds. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final Members members;

    QuorumDiagnosis(Members members) {
        this.members = members;
    }

    /** Returns the findings, in the order of the members. Does not fail because a member does. */
    CompletionStage<List<Finding>> run() {
        double drift = members.settings().clockDrift;
        List<CompletableFuture<List<Finding>>> asked = new ArrayList<>();
        List<CompletableFuture<Identity>> identities = new ArrayList<>();
        for (Seat seat : members.seats()) {
            CompletableFuture<Identity> identity = ask(seat, QuorumMember::identify);
            identities.add(identity);
            asked.add(identity.thenCompose(known -> ask(seat, member -> member.diagnose(drift))
                            .thenApply(found -> joined(vote(seat, known), found)))
                    .exceptionally(error -> List.of(failed(error))));
        }
        return CompletableFuture.allOf(asked.toArray(CompletableFuture[]::new)).thenApply(done -> {
            List<Finding> findings = new ArrayList<>();
            asked.forEach(one -> findings.addAll(one.join()));
            addReplicas(findings, identities);
            return findings;
        });
    }

    private <R> CompletableFuture<R> ask(Seat seat, Function<QuorumMember, CompletionStage<R>> question) {
        CompletableFuture<R> late = new CompletableFuture<>();
        TimeSource.Timer timer = members.time()
                .schedule(
                        PATIENCE.toNanos(),
                        () -> late.completeExceptionally(new StoreException(
                                StoreException.Outcome.UNKNOWN, seat.description + " does not answer", null)));
        return seat.sendAnyway(question)
                .whenComplete((reply, error) -> timer.cancel())
                .applyToEither(late, reply -> reply)
                .toCompletableFuture();
    }

    private static Finding failed(Throwable error) {
        return Finding.warning(
                "member",
                reason(error),
                "make it a master that this machine reaches; without a majority no lock can be taken");
    }

    private static List<Finding> vote(Seat seat, Identity identity) {
        long seconds = (identity.standing().quarantineMillis() + 999) / 1_000;
        return seconds <= 0
                ? List.of()
                : List.of(Finding.warning(
                        "vote",
                        seat.description + " is new or has lost its data, so it does not vote for another " + seconds
                                + " s",
                        "wait; for the first start of new servers set bootstrap=true"));
    }

    /** Adds a warning for each two members that have the same data: one of them adds no safety. */
    private void addReplicas(List<Finding> findings, List<CompletableFuture<Identity>> identities) {
        for (int i = 0; i < identities.size(); i++) {
            for (int j = i + 1; j < identities.size(); j++) {
                String one = dataId(identities.get(i));
                if (!one.isEmpty() && one.equals(dataId(identities.get(j)))) {
                    findings.add(Finding.warning(
                            "replication",
                            members.seats().get(i).description + " and "
                                    + members.seats().get(j).description
                                    + " replicate one another, so they are not independent: what one loses, both lose",
                            "name masters only"));
                }
            }
        }
    }

    private static String dataId(CompletableFuture<Identity> identity) {
        return identity.isCompletedExceptionally() ? "" : identity.join().dataId();
    }

    private static List<Finding> joined(List<Finding> one, List<Finding> other) {
        List<Finding> both = new ArrayList<>(one);
        both.addAll(other);
        return both;
    }

    private static String reason(Throwable error) {
        Throwable last = error;
        while (last.getCause() != null && !(last instanceof StoreException)) {
            last = last.getCause();
        }
        return String.valueOf(last.getMessage());
    }
}
