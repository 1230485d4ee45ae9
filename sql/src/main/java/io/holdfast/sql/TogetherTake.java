package io.holdfast.sql;

import io.holdfast.spi.AcquireAllReply;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.StoreException.Outcome;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Takes several locks in one transaction, all or none. It locks their rows in the order of the keys. Every other
 * statement locks one row or passes by those that are locked, so nobody can wait for each other.
 */
final class TogetherTake {

    private final Commands commands;
    private final SqlErrors errors;

    TogetherTake(Commands commands, SqlErrors errors) {
        this.commands = commands;
        this.errors = errors;
    }

    AcquireAllReply take(Link link, List<AcquireRequest> requests) throws SQLException {
        List<AcquireRequest> ordered = requests.stream()
                .sorted(Comparator.comparing(request -> commands.key(request.name())))
                .toList();
        for (AcquireRequest request : ordered) {
            if (commands.table().read(link, commands.key(request.name())) == null) {
                commands.make(link, request.name());
            }
        }
        AcquireAllReply reply = link.together(() -> taken(link, requests, ordered));
        if (reply == null) {
            throw errors.exception(Outcome.NOT_EXECUTED, "lost the row of a lock", null);
        }
        return reply;
    }

    /** Returns null if a row is missing. Looks at all names before it writes one. */
    private @Nullable AcquireAllReply taken(Link link, List<AcquireRequest> requests, List<AcquireRequest> ordered)
            throws SQLException {
        List<Row> rows = new ArrayList<>();
        for (AcquireRequest request : ordered) {
            Row row = commands.table().readLocked(link, commands.key(request.name()));
            if (row == null) {
                return null;
            }
            var free = new RowRecord<>(request.name(), false, row, decision -> decision.isFreeFor(request.holderId()));
            if (!free.reply()) {
                long left = Math.max(0, (row.endMicros() - row.nowMicros()) / 1_000);
                return AcquireAllReply.busy(request.name(), left);
            }
            rows.add(row);
        }
        Map<String, AcquireReply.Granted> granted = new HashMap<>();
        for (int i = 0; i < rows.size(); i++) {
            AcquireRequest request = ordered.get(i);
            granted.put(request.name(), granted(link, request, rows.get(i)));
        }
        return AcquireAllReply.taken(
                requests.stream().map(request -> granted.get(request.name())).toList());
    }

    /** @throws io.holdfast.spi.StoreException if the row cannot be written, which takes back the others */
    private AcquireReply.Granted granted(Link link, AcquireRequest request, Row row) throws SQLException {
        RowRecord<AcquireReply> decided =
                new RowRecord<>(request.name(), false, row, decision -> decision.acquire(request));
        if (decided.reply() instanceof AcquireReply.Granted reply
                && commands.written(link, request.name(), row, decided)) {
            return reply;
        }
        throw commands.locked(request.name());
    }
}
