package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.StoreException.Outcome;
import java.net.URI;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;

class SqlErrorsTest {

    private final SqlErrors errors = new SqlErrors(SqlSettings.parse(URI.create("jdbc:postgresql://127.0.0.1/locks")));

    /** The next command on it would have failed with an unknown outcome. */
    @Test
    void aSessionThatWasIdleInItsTransactionTooLongIsNotUsedAgain() {
        SQLException idle = new SQLException("terminating connection due to idle-in-transaction timeout", "25P03");
        assertThat(errors.breaksConnection(idle)).isTrue();
        assertThat(errors.ofCommand(idle).outcome()).isEqualTo(Outcome.NOT_EXECUTED);
    }

    @Test
    void aConnectionThatWasEndedWhileIdleHasExecutedNothingAndIsNotUsedAgain() {
        SQLException idle = new SQLException("terminating connection due to idle-session timeout", "57P05");
        assertThat(errors.breaksConnection(idle)).isTrue();
        assertThat(errors.ofCommand(idle).outcome()).isEqualTo(Outcome.NOT_EXECUTED);
    }

    @Test
    void aConnectionWhoseStatementWasCancelledIsUsedAgain() {
        SQLException cancelled = new SQLException("canceling statement due to lock timeout", "55P03");
        assertThat(errors.breaksConnection(cancelled)).isFalse();
    }
}
