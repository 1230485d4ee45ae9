package io.holdfast.sql;

import io.holdfast.record.NameMessage;
import io.holdfast.record.NameRecord.Entry;
import io.holdfast.sql.VerifySql.Note;
import io.holdfast.sql.VerifySql.Renew;
import io.holdfast.sql.VerifySql.Seen;
import io.holdfast.sql.VerifySql.Stored;
import io.holdfast.sql.VerifySql.Took;
import io.holdfast.sql.VerifySql.Wrote;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The statements, as calls of a session of the model. */
final class ModelTable extends LockTable {
    private final boolean notifies;

    ModelTable(boolean notifies) {
        this.notifies = notifies;
    }

    @Override
    String columns() {
        return "";
    }

    @Override
    String instant() {
        return "";
    }

    @Override
    String now() {
        return "";
    }

    @Override
    @Nullable
    Taken take(Link link, String key, String holderId, long leaseMillis) throws SQLException {
        long sent = link.nanoTime();
        Took took = VerifySql.session(link).take(key, holderId, leaseMillis, link.notAfterMicros());
        if (took == null) {
            return null;
        }
        return new Taken(took.base(), noted(link, row(took.seen()), sent));
    }

    @Override
    Map<Wanted, Long> takeAll(Link link, List<Wanted> wanted) throws SQLException {
        Map<VerifySql.Wanted, Wanted> all = new LinkedHashMap<>();
        wanted.forEach(each -> all.put(new VerifySql.Wanted(each.key(), each.holderId(), each.leaseMillis()), each));
        Map<Wanted, Long> bases = new HashMap<>();
        VerifySql.session(link)
                .takeAll(List.copyOf(all.keySet()), link.notAfterMicros())
                .forEach((taken, base) -> bases.put(all.get(taken), base));
        return bases;
    }

    @Override
    Set<Holds.Held> releaseAll(Link link, List<Holds.Held> holds) throws SQLException {
        Map<Renew, Holds.Held> all = new LinkedHashMap<>();
        holds.forEach(each -> all.put(new Renew(each.key(), each.base(), each.holderId(), 0, 0), each));
        Set<Holds.Held> released = new HashSet<>();
        VerifySql.session(link).releaseAll(List.copyOf(all.keySet())).forEach(each -> released.add(all.get(each)));
        return released;
    }

    @Override
    void make(Link link, String key, String shown, long version) throws SQLException {
        VerifySql.session(link).make(key, version);
    }

    @Override
    @Nullable
    Row read(Link link, String key) throws SQLException {
        long sent = link.nanoTime();
        return noted(link, readAll(link, List.of(key)).get(key), sent);
    }

    @Override
    Map<String, Row> readAll(Link link, List<String> keys) throws SQLException {
        Map<String, Row> rows = new HashMap<>();
        VerifySql.session(link).read(keys).forEach((key, seen) -> rows.put(key, row(seen)));
        return rows;
    }

    @Override
    @Nullable
    Row readLocked(Link link, String key) throws SQLException {
        Seen seen = VerifySql.session(link).readLocked(key);
        return seen == null ? null : row(seen);
    }

    @Override
    Written write(Link link, String key, Row before, Row.Change after, List<NameMessage> messages, boolean pool)
            throws SQLException {
        long sent = link.nanoTime();
        List<Note> notes = new ArrayList<>();
        if (notifies) {
            messages.forEach(message -> notes.add(new Note(message.client(), Notes.text(message, pool, before))));
        }
        Stored stored = new Stored(
                after.base(),
                before.version() + 1,
                after.holder(),
                after.endMicros(),
                after.settings(),
                after.leaseMillis(),
                after.queue(),
                after.holders(),
                after.contended());
        Wrote wrote = VerifySql.session(link)
                .write(key, stored(before), before.mark(), stored, before.notAfterMicros(), notes);
        return new Written(wrote.done(), found(link, wrote, sent));
    }

    @Override
    @Nullable
    Row append(Link link, String key, Row before, Entry entry) throws SQLException {
        long sent = link.nanoTime();
        String id = entry.holderId();
        Seen seen = VerifySql.session(link)
                .append(
                        key,
                        before.base(),
                        QueueText.text(entry, before.mark()),
                        QueueText.word(id) + ' ',
                        id,
                        before.notAfterMicros());
        return noted(link, seen == null ? null : row(seen), sent);
    }

    @Override
    Written release(Link link, String key, long base, String holderId) throws SQLException {
        long sent = link.nanoTime();
        Wrote wrote = VerifySql.session(link).release(key, base, holderId);
        return new Written(wrote.done(), found(link, wrote, sent));
    }

    private static @Nullable Row found(Link link, Wrote wrote, long sent) {
        Seen found = wrote.found();
        return noted(link, found == null ? null : row(found), sent);
    }

    @Override
    List<Renewed> renew(Link link, List<Renewal> renewals) throws SQLException {
        List<Renew> all = map(
                renewals,
                each -> new Renew(each.key(), each.base(), each.holderId(), each.leaseMillis(), each.sequence()));
        return map(
                VerifySql.session(link).renew(all),
                each -> new Renewed(each.key(), each.holderId(), each.queue(), each.nowMicros()));
    }

    @Override
    void purge(Link link, String from, String to) throws SQLException {
        VerifySql.session(link).purge();
    }

    private static <T, R> List<R> map(List<T> all, Function<T, R> function) {
        return all.stream().map(function).toList();
    }

    private static Row row(Seen seen) {
        Stored row = seen.row();
        return new Row(
                row.base(),
                row.version(),
                row.holder(),
                row.endMicros(),
                row.settings(),
                row.leaseMillis(),
                row.queue(),
                row.holders(),
                row.contended(),
                seen.nowMicros(),
                seen.mark(),
                false);
    }

    private static Stored stored(Row row) {
        return new Stored(
                row.base(),
                row.version(),
                row.holder(),
                row.endMicros(),
                row.settings(),
                row.leaseMillis(),
                row.queue(),
                row.holders(),
                row.contended());
    }
}
