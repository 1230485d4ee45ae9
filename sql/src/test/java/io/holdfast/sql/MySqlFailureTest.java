package io.holdfast.sql;

import io.holdfast.testkit.servers.MariaDbServer;
import java.sql.SQLException;
import org.junit.jupiter.api.Tag;

/** A MySQL that fails. */
@Tag("deep")
class MySqlFailureTest extends MariaDbFailureTest {

    @Override
    MariaDbServer started() {
        return Databases.ownMySql();
    }

    @Override
    long deadlocks() throws SQLException {
        return number("SELECT count FROM information_schema.innodb_metrics WHERE name = 'lock_deadlocks'");
    }
}
