package io.holdfast.cdi;

import static io.holdfast.cdi.KeyTemplate.wrong;
import static java.util.Objects.requireNonNull;

import io.holdfast.jdbc.JdbcOnce;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.interceptor.InvocationContext;
import java.lang.reflect.Type;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Does the work of methods once for each key, in the transaction in which the calling thread is. Loaded only where
 * holdfast-jdbc and Jakarta Transactions are. Thread-safe.
 */
final class OnceCalls {

    private final TransactionEnds transactions;
    private final Instance<Object> beans;
    private final JdbcOnce keys;

    OnceCalls(TransactionEnds transactions, BeanManager beans) {
        this.transactions = transactions;
        this.beans = beans.createInstance();
        this.keys = Settings.find("holdfast.idempotent.table")
                .map(JdbcOnce.defaults()::table)
                .orElseGet(JdbcOnce::defaults);
    }

    /**
     * Refuses a method that cannot work. Called outside of a transaction.
     *
     * @throws jakarta.enterprise.inject.spi.DefinitionException with the reason
     */
    void check(LockedMethod method) {
        Once once = requireNonNull(method.once());
        if (once.stored() != null && once.stored() != String.class) {
            json(once);
        }
        try (Connection connection = source(once).getConnection()) {
            if (!connection.getAutoCommit()) {
                throw wrong(
                        once.place(),
                        "the connections of the DataSource do not commit after each statement outside of a transaction,"
                                + " so nobody can tell whether they take part in one",
                        "a DataSource that Jakarta Transactions manage, without autoCommit = false");
            }
            keys.requireTable(connection);
        } catch (IllegalStateException e) {
            throw wrong(once.place(), String.valueOf(e.getMessage()), "the table in the database of the DataSource");
        } catch (SQLException e) {
            throw new IllegalStateException(once.place() + ": the database cannot be asked: " + e.getMessage(), e);
        }
    }

    /** Runs the method, or returns the stored result. The caller holds the lock. */
    @Nullable
    Object run(LockedMethod method, InvocationContext call) throws Exception {
        Once once = requireNonNull(method.once());
        if (!transactions.isActive()) {
            throw new IllegalStateException(once.place()
                    + ": there is no transaction, with which the key would be committed (expected: @Transactional of type"
                    + " REQUIRED, REQUIRES_NEW or MANDATORY)");
        }
        String key = method.lockName(call.getParameters());
        String fingerprint = once.fingerprint(call.getParameters());
        try (Connection connection = source(once).getConnection()) {
            if (connection.getAutoCommit()) {
                throw new IllegalStateException(once.place()
                        + ": the connection commits after each statement, so it does not take part in the transaction"
                        + " (expected: a DataSource that Jakarta Transactions manage)");
            }
            Result result = new Result();
            String stored = keys.keepFor(once.keepFor()).<Exception>run(connection, key, fingerprint, inside -> {
                result.value = call.proceed();
                result.ran = true;
                return write(once, result.value);
            });
            return result.ran ? result.value : read(once, stored);
        } catch (Throwable e) {
            // Also after an exception at which @Transactional commits: what JPA writes at the commit would have no key.
            transactions.setRollbackOnly();
            throw e;
        }
    }

    /** What the method has returned in this call. */
    private static final class Result {
        private @Nullable Object value;
        private boolean ran;
    }

    private DataSource source(Once once) {
        return Clients.named(beans, DataSource.class, once.dataSource(), "dataSource", once.place());
    }

    private OnceJson json(Once once) {
        OnceJson json = Settings.isPresent("com.fasterxml.jackson.databind.ObjectMapper") ? OnceJson.find(beans) : null;
        if (json == null) {
            throw wrong(
                    once.place(),
                    "there is no ObjectMapper bean, which would store the result",
                    "a producer of one, in Quarkus the dependency quarkus-jackson; or a method that returns a text or"
                            + " nothing");
        }
        return json;
    }

    /** Returns null for null. A result that no later call could read is an error. */
    private @Nullable String write(Once once, @Nullable Object result) {
        Object content = result instanceof Optional<?> optional ? optional.orElse(null) : result;
        Type type = once.stored();
        if (type == null || content == null) {
            return null;
        }
        return type == String.class ? (String) content : json(once).write(once.place(), content, type);
    }

    private @Nullable Object read(Once once, @Nullable String stored) {
        Type type = once.stored();
        Object content = stored == null || type == null || type == String.class
                ? stored
                : json(once).read(once.place(), stored, type);
        return once.isOptional() ? Optional.ofNullable(content) : content;
    }
}
