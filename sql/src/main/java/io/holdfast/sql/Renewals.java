package io.holdfast.sql;

import io.holdfast.spi.RenewAnswers;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Renews many holds by one statement. It skips rows that others have locked, so one of them delays nobody. A hold that
 * does not come back is gone, superseded or locked: a statement of its own asks for it.
 */
final class Renewals {

    private static final int BATCH = 500;

    /** A renewal and the place of its request. */
    private record Numbered(int index, LockTable.Renewal renewal) {}

    private final SqlParts parts;
    private final Commands commands;
    private final boolean pool;

    Renewals(SqlParts parts, Commands commands, boolean pool) {
        this.parts = parts;
        this.commands = commands;
        this.pool = pool;
    }

    void send(List<RenewRequest> requests, RenewAnswers answers) {
        List<Numbered> together = new ArrayList<>();
        List<Integer> looks = new ArrayList<>();
        for (int i = 0; i < requests.size(); i++) {
            RenewRequest request = requests.get(i);
            String key = commands.key(request.name());
            Holds.Held held = parts.holds().get(key, request.holderId());
            if (request.isLook()) {
                looks.add(i);
            } else if (pool || request.exact() || held == null) {
                alone(i, request, answers);
            } else {
                together.add(new Numbered(
                        i,
                        new LockTable.Renewal(
                                key, held.base(), request.holderId(), request.leaseMillis(), request.sequence())));
            }
        }
        inBatches(looks, batch -> look(batch, requests, answers));
        inBatches(together, batch -> batch(batch, requests, answers));
    }

    private static <T> void inBatches(List<T> all, Consumer<List<T>> batch) {
        for (int from = 0; from < all.size(); from += BATCH) {
            batch.accept(all.subList(from, Math.min(all.size(), from + BATCH)));
        }
    }

    private void batch(List<Numbered> batch, List<RenewRequest> requests, RenewAnswers answers) {
        List<LockTable.Renewal> renewals = batch.stream().map(Numbered::renewal).toList();
        parts.workers()
                .submit(link -> parts.table().renew(link, renewals), true)
                .whenComplete((renewed, error) -> {
                    if (error != null) {
                        batch.forEach(each -> answers.answered(each.index(), null, error));
                        return;
                    }
                    Map<String, LockTable.Renewed> byId = new HashMap<>();
                    renewed.forEach(each -> byId.put(each.key() + each.holderId(), each));
                    for (Numbered each : batch) {
                        LockTable.Renewed found =
                                byId.get(each.renewal().key() + each.renewal().holderId());
                        if (found == null) {
                            alone(each.index(), requests.get(each.index()), answers);
                        } else {
                            answers.answered(each.index(), new RenewReply.Renewed(waiting(found)), null);
                        }
                    }
                });
    }

    private static int waiting(LockTable.Renewed renewed) {
        return renewed.queue().isEmpty()
                ? 0
                : (int) QueueText.entries("", renewed.queue()).stream()
                        .filter(entry -> entry.isAlive(renewed.nowMicros() * 1_000))
                        .count();
    }

    private void look(List<Integer> indexes, List<RenewRequest> requests, RenewAnswers answers) {
        List<String> keys = indexes.stream()
                .map(index -> commands.key(requests.get(index).name()))
                .distinct()
                .toList();
        parts.workers().submit(link -> parts.table().readAll(link, keys), true).whenComplete((rows, error) -> {
            for (int index : indexes) {
                RenewRequest request = requests.get(index);
                if (error != null) {
                    answers.answered(index, null, error);
                    continue;
                }
                Row row = rows.get(commands.key(request.name()));
                RenewReply reply = row == null
                        ? new RenewReply.Gone()
                        : new RowRecord<>(request.name(), pool, row, decision -> decision.renew(request)).reply();
                answers.answered(index, reply, null);
            }
        });
    }

    private void alone(int index, RenewRequest request, RenewAnswers answers) {
        parts.workers()
                .submit(link -> renew(link, request), true)
                .whenComplete((reply, error) -> answers.answered(index, reply, error));
    }

    private RenewReply renew(Link link, RenewRequest request) throws SQLException {
        Commands.Decided<RenewReply> decided =
                commands.decide(link, request.name(), null, decision -> decision.renew(request));
        RenewReply reply = decided == null ? new RenewReply.Gone() : decided.reply();
        if (reply instanceof RenewReply.Gone) {
            parts.holds().remove(commands.key(request.name()), request.holderId());
        }
        return reply;
    }
}
