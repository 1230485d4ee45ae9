package io.holdfast.sql;

import io.holdfast.spi.CardStore;
import io.holdfast.spi.StoredCard;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** The cards of the clients, in a table of their own. */
final class SqlCards implements CardStore {

    private final LockTable table;
    private final Workers workers;
    private final String client;
    private final String now;
    private final String later;
    private final String columns;

    SqlCards(LockTable table, Workers workers, String client) {
        this.table = table;
        this.workers = workers;
        this.client = client;
        this.now = table.now();
        this.later = table.instant();
        this.columns = "client, card, " + age("written") + ", " + age("heard");
    }

    private String age(String since) {
        return table.micros(now) + " - " + table.micros(since);
    }

    @Override
    public CompletionStage<Integer> write(String text, Duration keep) {
        // PostgreSQL stores no NUL.
        String card = text.replace('\0', ' ');
        return workers.submit(link -> {
            long until = until(link, keep);
            String set = " card = ?, written = " + now + ", heard = " + now + ", ends = " + later;
            if (link.update("UPDATE holdfast_card SET" + set + " WHERE client = ?", card, until, client) == 0) {
                link.update(
                        "INSERT INTO holdfast_card (client, card, written, heard, ends) VALUES (?, ?, " + now + ", "
                                + now + ", " + later + ")",
                        client,
                        card,
                        until);
                link.update("DELETE FROM holdfast_card WHERE ends < " + now);
            }
            Long count =
                    link.first("SELECT COUNT(*) FROM holdfast_card WHERE ends >= " + now, result -> result.getLong(1));
            return count == null ? 0 : count.intValue();
        });
    }

    /** Returns the end by the database's clock. */
    private long until(Link link, Duration keep) throws SQLException {
        Long micros = link.first("SELECT " + table.micros(now), result -> result.getLong(1));
        return (micros == null ? 0 : micros) + keep.toMillis() * 1_000;
    }

    @Override
    public CompletionStage<Boolean> keep(Duration keep) {
        return workers.submit(link -> link.update(
                        "UPDATE holdfast_card SET heard = " + now + ", ends = " + later
                                + " WHERE client = ? AND ends >= " + now,
                        until(link, keep),
                        client)
                > 0);
    }

    @Override
    public CompletionStage<List<StoredCard>> read() {
        return workers.submit(
                link -> link.query("SELECT " + columns + " FROM holdfast_card WHERE ends >= " + now, SqlCards::card));
    }

    @Override
    public CompletionStage<Optional<StoredCard>> read(String clientId) {
        return workers.submit(link -> Optional.ofNullable(link.first(
                "SELECT " + columns + " FROM holdfast_card WHERE client = ? AND ends >= " + now,
                SqlCards::card,
                clientId)));
    }

    private static StoredCard card(ResultSet row) throws SQLException {
        return new StoredCard(row.getString(1), row.getString(2), micros(row.getLong(3)), micros(row.getLong(4)));
    }

    private static Duration micros(long age) {
        return Duration.ofNanos(Math.max(0, age) * 1_000);
    }

    @Override
    public CompletionStage<Void> remove() {
        return workers.submit(link -> link.update("DELETE FROM holdfast_card WHERE client = ?", client))
                .thenAccept(removed -> {});
    }
}
