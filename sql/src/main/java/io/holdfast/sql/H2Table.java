package io.holdfast.sql;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The statements for H2. The key is that of the name alone. An update that had to wait for the row looks at it again,
 * and the clock stands still within a statement: so a wait can only shorten a hold.
 */
final class H2Table extends NameKeyTable {

    private static final String DUPLICATE_KEY = "23505";

    private final String take = "SELECT base, " + micros(now())
            + " FROM FINAL TABLE (UPDATE holdfast_lock SET base = GREATEST(base + 1, " + ticks()
            + "), holder = ?, ends = DATEADD(MILLISECOND, ?, " + now() + "), lease = ?, settings = 0, contended = 0,"
            + " version = version + 1 WHERE lock_key = ? AND queue = '' AND holders = '' AND ends <= " + now() + " AND "
            + now() + " <= " + instant() + ")";

    private final String renew = "SELECT queue, " + micros(now())
            + " FROM FINAL TABLE (UPDATE holdfast_lock SET ends = GREATEST(ends, DATEADD(MILLISECOND, ?, " + now()
            + ")), settings = GREATEST(settings, ?), version = version + 1 WHERE lock_key = ? AND base = ? AND"
            + " holder = ? AND settings <= ? AND ends > " + now() + ")";

    H2Table() {
        super(
                "CURRENT_TIMESTAMP(6)",
                "DATEADD(MICROSECOND, ?, TIMESTAMP WITH TIME ZONE '1970-01-01 00:00:00+00')",
                "0");
    }

    @Override
    @Nullable
    Taken take(Link link, String key, String holderId, long leaseMillis) throws SQLException {
        long sent = link.nanoTime();
        Taken taken = link.first(
                take,
                result -> {
                    link.clockWas(result.getLong(2), sent);
                    return new Taken(result.getLong(1), null);
                },
                holderId,
                leaseMillis,
                leaseMillis,
                key,
                link.notAfterMicros());
        if (taken != null) {
            return taken;
        }
        Row row = read(link, key);
        return row == null ? null : new Taken(0, row);
    }

    @Override
    void make(Link link, String key, String shown, long version) throws SQLException {
        try {
            link.update(
                    "INSERT INTO holdfast_lock (lock_key, base, holder, ends, settings, lease, queue, holders,"
                            + " contended, version, name) VALUES (?, 0, '', " + now() + ", 0, 0, '', '', 0, ?, ?)",
                    key,
                    version,
                    shown);
        } catch (SQLException e) {
            // Otherwise another client has just made it.
            if (!DUPLICATE_KEY.equals(e.getSQLState())) {
                throw e;
            }
        }
    }

    @Override
    Map<String, Row> readAll(Link link, List<String> keys) throws SQLException {
        Map<String, Row> rows = new HashMap<>();
        for (String key : keys) {
            Row row = read(link, key);
            if (row != null) {
                rows.put(key, row);
            }
        }
        return rows;
    }

    @Override
    List<Renewed> renew(Link link, List<Renewal> renewals) throws SQLException {
        List<Renewed> all = new ArrayList<>();
        for (Renewal each : renewals) {
            Renewed renewed = link.first(
                    renew,
                    result -> new Renewed(each.key(), each.holderId(), result.getString(1), result.getLong(2)),
                    each.leaseMillis(),
                    each.sequence(),
                    each.key(),
                    each.base(),
                    each.holderId(),
                    each.sequence());
            if (renewed != null) {
                all.add(renewed);
            }
        }
        return all;
    }

    @Override
    void purge(Link link, String from, String to) throws SQLException {
        link.update(
                "DELETE FROM holdfast_lock WHERE lock_key >= ? AND lock_key < ? AND ends < DATEADD(DAY, -1, " + now()
                        + ") AND base <= " + ticks(),
                from,
                to);
    }
}
