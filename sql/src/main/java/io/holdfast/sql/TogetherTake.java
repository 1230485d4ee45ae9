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

    /** A request, and the key of its name. */
    private record Keyed(String key, AcquireRequest request) {}

    /** How long the engine waits before it asks again for a name that is free and guarded. */
    private static final long GUARDED_MILLIS = 250;

    /** Ends a transaction that would write a name which is guarded. */
    @SuppressWarnings("serial") // nobody writes it anywhere
    private static final class GuardedName extends RuntimeException {

        private final String name;

        GuardedName(String name) {
            super(null, null, false, false);
            this.name = name;
        }
    }

    private final Commands commands;
    private final SqlErrors errors;

    TogetherTake(Commands commands, SqlErrors errors) {
        this.commands = commands;
        this.errors = errors;
    }

    AcquireAllReply take(Link link, List<AcquireRequest> requests) throws SQLException {
        List<Keyed> ordered = requests.stream()
                .map(request -> new Keyed(commands.key(request.name()), request))
                .sorted(Comparator.comparing(Keyed::key))
                .toList();
        for (Keyed each : ordered) {
            if (commands.table().read(link, each.key()) == null) {
                commands.make(link, each.request().name());
            }
        }
        AcquireAllReply reply;
        try {
            reply = link.together(() -> taken(link, requests, ordered));
        } catch (GuardedName guarded) {
            return AcquireAllReply.busy(guarded.name, GUARDED_MILLIS);
        }
        if (reply == null) {
            throw errors.exception(Outcome.NOT_EXECUTED, "lost the row of a lock", null);
        }
        return reply;
    }

    /** Returns null if a row is missing. Looks at all names before it writes one. */
    private @Nullable AcquireAllReply taken(Link link, List<AcquireRequest> requests, List<Keyed> ordered)
            throws SQLException {
        List<Row> rows = new ArrayList<>();
        for (Keyed each : ordered) {
            AcquireRequest request = each.request();
            Row row = commands.table().readLocked(link, each.key());
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
            Keyed each = ordered.get(i);
            granted.put(each.request().name(), granted(link, each, rows.get(i)));
        }
        return AcquireAllReply.taken(
                requests.stream().map(request -> granted.get(request.name())).toList());
    }

    /** @throws GuardedName if an open transaction guards the name; that takes back the others */
    private AcquireReply.Granted granted(Link link, Keyed keyed, Row row) throws SQLException {
        AcquireRequest request = keyed.request();
        RowRecord<AcquireReply> decided =
                new RowRecord<>(request.name(), false, row, decision -> decision.acquire(request));
        if (!(decided.reply() instanceof AcquireReply.Granted reply)) {
            throw commands.locked(request.name());
        }
        if (!commands.written(link, keyed.key(), row, decided)) {
            throw new GuardedName(request.name());
        }
        return reply;
    }
}
