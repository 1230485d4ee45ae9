package io.holdfast.sql;

import org.junit.jupiter.api.Tag;

@Tag("deep")
class MariaDbTableTest extends MySqlTableTest {

    @Override
    String url() {
        return Databases.url(SqlSettings.Kind.MARIADB);
    }
}
