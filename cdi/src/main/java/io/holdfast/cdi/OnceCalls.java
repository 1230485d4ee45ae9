package io.holdfast.cdi;

import static io.holdfast.cdi.KeyTemplate.wrong;
import static java.util.Objects.requireNonNull;

import io.holdfast.LockClient;
import io.holdfast.LockTimeoutException;
import io.holdfast.OnceConflictException;
import io.holdfast.OnceOutcome;
import io.holdfast.jdbc.JdbcOnce;
import io.holdfast.jdbc.OncePurge;
import io.holdfast.spi.DurationText;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.interceptor.InvocationContext;
import java.lang.reflect.Type;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Does the work of methods once for each key, in the transaction in which the calling thread is. Loaded only where
 * holdfast-jdbc and Jakarta Transactions are. Thread-safe.
 */
final class OnceCalls {

    private static final String OUTCOME = OnceOutcome.class.getName();
    private static final String PURGE_EVERY = "holdfast.idempotent.purge-every";

    private final TransactionEnds transactions;
    private final Instance<Object> beans;
    private final JdbcOnce keys;

    /** One method for each DataSource that has keys. */
    private final Map<String, Once> sources = new ConcurrentHashMap<>();

    private volatile @Nullable OncePurge purge;

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
        sources.putIfAbsent(once.dataSource(), once);
    }

    /**
     * Deletes keys that were kept for long enough, of all methods that were checked, again and again until the {@link
     * #end}.
     *
     * @throws IllegalArgumentException if the setting cannot be meant
     */
    void begin(LockClient locks) {
        Duration every = Settings.time(PURGE_EVERY).orElse(Duration.ofHours(1));
        if (every.isZero()) {
            return;
        }
        if (every.compareTo(Duration.ofSeconds(1)) < 0) {
            throw new IllegalArgumentException(
                    PURGE_EVERY + ": " + DurationText.of(every) + " (expected: at least 1 s, or 0 for never)");
        }
        purge = OncePurge.start(every, locks, this::delete);
    }

    private int delete() throws SQLException {
        int deleted = 0;
        for (Once once : sources.values()) {
            try (Connection connection = source(once).getConnection()) {
                deleted += keys.purge(connection);
            }
        }
        return deleted;
    }

    void end() {
        OncePurge running = purge;
        if (running != null) {
            running.close();
        }
    }

    /** Runs the method, or returns the stored result. The caller holds the lock. */
    @Nullable
    Object run(LockedMethod method, InvocationContext call) throws Exception {
        Once once = requireNonNull(method.once());
        note(call, OnceOutcome.FAILED);
        if (!transactions.isActive()) {
            throw new IllegalStateException(once.place()
                    + ": there is no transaction, with which the key would be committed (expected: @Transactional of type"
                    + " REQUIRED, REQUIRES_NEW or MANDATORY)");
        }
        String key = method.lockName(call.getParameters());
        String fingerprint = once.fingerprint(call.getParameters());
        Result result = new Result();
        try (Connection connection = source(once).getConnection()) {
            if (connection.getAutoCommit()) {
                throw new IllegalStateException(once.place()
                        + ": the connection commits after each statement, so it does not take part in the transaction"
                        + " (expected: a DataSource that Jakarta Transactions manage)");
            }
            String stored = keys.keepFor(once.keepFor()).<Exception>run(connection, key, fingerprint, inside -> {
                result.ran = true;
                result.value = call.proceed();
                return write(once, result.value);
            });
            Object value = result.ran ? result.value : read(once, stored);
            note(call, result.ran ? OnceOutcome.DONE : OnceOutcome.REPEATED);
            return value;
        } catch (Throwable e) {
            if (e instanceof OnceConflictException && !result.ran) {
                note(call, OnceOutcome.CONFLICT);
            }
            // Also after an exception at which @Transactional commits: what JPA writes at the commit would have no key.
            transactions.setRollbackOnly();
            throw e;
        }
    }

    /** Notes how the work of a call will have ended when its transaction is committed. */
    private static void note(InvocationContext call, OnceOutcome outcome) {
        call.getContextData().put(OUTCOME, outcome);
    }

    /** Returns the outcome of a call that has returned. */
    static @Nullable OnceOutcome outcome(InvocationContext call) {
        return (OnceOutcome) call.getContextData().get(OUTCOME);
    }

    /** Returns the outcome of a call that has failed; null if it came to nothing that a meter counts. */
    static @Nullable OnceOutcome outcome(InvocationContext call, Throwable why) {
        OnceOutcome noted = outcome(call);
        if (noted == null) {
            return why instanceof LockTimeoutException ? OnceOutcome.BUSY : null;
        }
        // The commit fails after the method has run.
        return noted == OnceOutcome.CONFLICT ? noted : OnceOutcome.FAILED;
    }

    /** What the method has returned in this call, if it ran. */
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
