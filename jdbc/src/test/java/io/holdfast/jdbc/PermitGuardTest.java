package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import org.junit.jupiter.api.Test;

/** A token of a permit does not say who is the only one, so it guards nothing. */
class PermitGuardTest {

    @Test
    void a_permit_is_refused_before_anything_is_sent_to_the_database() throws Exception {
        Connection untouched = (Connection) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Connection.class}, (self, method, args) -> {
                    throw new AssertionError(method.getName());
                });
        try (LockClient locks = LockClient.connect("memory:permit-guard");
                Lease lock = locks.acquire("export");
                Lease permit = locks.permits("export", 5).acquire();
                Lease read = locks.acquireRead("export")) {
            assertThatThrownBy(() -> JdbcGuard.defaults().check(untouched, lock, permit))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage(
                            "A permit or a reader's lease of \"export\" cannot guard a transaction: several are valid"
                                    + " at once, and a token does not order them (expected: the lease of a lock or of a"
                                    + " writer)");
            assertThatThrownBy(() -> JdbcGuard.defaults().check(untouched, read))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("A permit or a reader's lease of \"export\" cannot guard a transaction");
        }
    }
}
