package io.holdfast.sql;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongUnaryOperator;

/** Opens the store: finds the driver, connects, looks at the tables, and joins the parts. */
final class SqlOpening {

    private SqlOpening() {}

    static LockStore open(SqlSettings settings, StoreContext context) {
        SqlErrors errors = new SqlErrors(settings);
        Connecting connecting = new Connecting(Drivers.find(settings), settings, context, errors);
        Link first = connecting.connect();
        try {
            SqlSchema.check(first, settings, errors);
        } catch (RuntimeException e) {
            first.close();
            throw e;
        }
        Holds holds = new Holds();
        LongUnaryOperator random = bound -> ThreadLocalRandom.current().nextLong(bound);
        Receivers receivers = new Receivers(holds);
        boolean listens =
                settings.kind() == SqlSettings.Kind.POSTGRESQL && settings.notifies() && !connecting.isPooled();
        LockTable table = table(settings);
        Workers workers = new WorkerThreads(connecting::connect, receivers::connecting, errors, context.time(), first);
        Messages messages = listens
                ? new PostgresMessages(connecting::connect, receivers, context.clientId())
                : new Watch(table, workers, holds, receivers, context.time(), random);
        Purge purge = new Purge(table, workers, context.time(), random);
        purge.start();
        return SqlLockStore.of(new SqlParts(
                settings,
                errors,
                table,
                workers,
                messages,
                receivers,
                holds,
                new SqlCards(table, workers, context.clientId()),
                new Places(workers),
                purge,
                new SqlDiagnosis(settings, connecting::connect, connecting::isPooled, context.time()),
                random));
    }

    static LockTable table(SqlSettings settings) {
        return switch (settings.kind()) {
            case POSTGRESQL -> new PostgresTable(settings.notifies());
            case MYSQL, MARIADB -> new MySqlTable();
            case H2 -> new H2Table();
        };
    }
}
