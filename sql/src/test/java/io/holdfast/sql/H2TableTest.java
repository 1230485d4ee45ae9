package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import org.junit.jupiter.api.Test;

class H2TableTest extends TableTest {

    @Override
    String url() {
        return Databases.H2;
    }

    @Override
    LockTable table() {
        return new H2Table();
    }

    /** By default a committed take would be gone when the process that serves the file is killed. */
    @Test
    void aCommitIsOnTheDisk() throws SQLException {
        String delay = link.first(
                "SELECT SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS WHERE SETTING_NAME = 'WRITE_DELAY'",
                row -> row.getString(1));
        assertThat(delay).isEqualTo("0");
    }
}
