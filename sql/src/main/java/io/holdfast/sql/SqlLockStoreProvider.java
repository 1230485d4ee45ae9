package io.holdfast.sql;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.LockStoreProvider;
import io.holdfast.spi.StoreContext;
import java.net.URI;
import java.util.Set;

/**
 * Opens {@code jdbc:postgresql://…}, {@code jdbc:mysql://…}, {@code jdbc:mariadb://…} and {@code jdbc:h2:…}: the URL of
 * the database's driver, which is on the class path.
 *
 * <pre>{@code
 * try (LockClient locks = LockClient.connect("jdbc:postgresql://db.example/app?user=app&password=…")) {
 *     locks.run("order:42", lease -> orders.refund(42, lease.fencingToken()));
 * }
 * }</pre>
 *
 * <p>The tables {@code holdfast_lock} and {@code holdfast_card} are made by the script {@code io/holdfast/sql/*.sql} of
 * this jar. The connections are the store's own: one or two at rest, and none that waits for a lock. Options beside those
 * of the driver, after {@code ?} or {@code &}, and for H2 after {@code ;}:
 *
 * <ul>
 *   <li>{@code createTable}: {@code true} makes the tables if they are missing
 *   <li>{@code notify}: {@code false} neither sends nor receives messages by NOTIFY; the clients look at the rows. All
 *       clients of a database have the same value. For PostgreSQL
 * </ul>
 *
 * <p>PostgreSQL is 13, MySQL 8, MariaDB 10.6 and H2 2, or newer.
 */
public final class SqlLockStoreProvider implements LockStoreProvider {

    @Override
    public Set<String> schemes() {
        return Set.of("jdbc");
    }

    @Override
    public LockStore open(URI uri, StoreContext context) {
        return SqlOpening.open(SqlSettings.parse(uri), context);
    }
}
