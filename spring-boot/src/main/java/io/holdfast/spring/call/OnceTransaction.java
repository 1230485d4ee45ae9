package io.holdfast.spring.call;

import static java.util.Objects.requireNonNull;

import io.holdfast.OnceConflictException;
import io.holdfast.OnceOutcome;
import io.holdfast.jdbc.JdbcOnce;
import io.holdfast.spring.declaration.LockedOperation;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.expression.EvaluationContext;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.support.SQLExceptionSubclassTranslator;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Does the work of one method once for each key: the key, the result and the effects of the method are in one
 * transaction. The method runs inside of it, so its own {@code @Transactional} joins.
 *
 * @param keys the bean or the default, whose identity is that of the table
 */
record OnceTransaction(
        LockedOperation operation,
        PlatformTransactionManager manager,
        TransactionDefinition definition,
        DataSource source,
        JdbcOnce keys,
        JdbcOnce once,
        OnceValues values,
        OnceCalls calls)
        implements OnceCalls.Work {

    static OnceCalls.Work of(
            ConfigurableListableBeanFactory beans,
            LockedOperation operation,
            @Nullable OnceJson json,
            OnceCalls calls) {
        return new OnceSetup(beans, operation, json, calls).work();
    }

    /** Carries what the method throws past JdbcOnce, whose own exceptions become those of Spring. */
    private static final class Failed extends RuntimeException {

        private static final long serialVersionUID = 1;

        Failed(Throwable cause) {
            super(cause);
        }
    }

    /** Ends the work of a request that the method answers with a failure of the server: nothing of it may stay. */
    @SuppressWarnings("serial") // it never leaves the thread
    private static final class FailedAnswer extends RuntimeException {

        private static final long serialVersionUID = 1;

        private final transient @Nullable Object answer;

        FailedAnswer(@Nullable Object answer) {
            super(null, null, false, false);
            this.answer = answer;
        }
    }

    /** Receives the result of the method if it runs in this call. */
    private static final class Ran {

        boolean begun;
        boolean ran;

        @Nullable
        Object result;
    }

    @Override
    public @Nullable Object run(
            String key, LockedCall call, @Nullable EvaluationContext context, OnceCalls.Method method)
            throws Throwable {
        OnceOutcome outcome = OnceOutcome.FAILED;
        Ran here = new Ran();
        try {
            String stored = commit(key, values.fingerprint(call, context), method, here);
            outcome = here.ran ? OnceOutcome.DONE : OnceOutcome.REPEATED;
            return here.ran ? here.result : values.replay(call, stored);
        } catch (OnceConflictException e) {
            if (here.begun) {
                // Of another key, which the method asked for.
                throw e;
            }
            outcome = OnceOutcome.CONFLICT;
            throw values.conflict(e);
        } catch (FailedAnswer e) {
            return e.answer;
        } finally {
            calls.ended(key, outcome);
        }
    }

    /** Returns what is stored for the key when the transaction has ended. */
    private @Nullable String commit(String key, String fingerprint, OnceCalls.Method method, Ran here)
            throws Throwable {
        TransactionStatus status = manager.getTransaction(CommitBegun.isBefore() ? definition : outsideOfCaller());
        String stored;
        try {
            if (!status.isNewTransaction() && TransactionSynchronizationManager.isCurrentTransactionReadOnly()) {
                throw new IllegalStateException(operation.place()
                        + " is called inside a read-only transaction, in which JPA does not write its work (expected: a"
                        + " call outside of it, or readOnly = false)");
            }
            stored = inTransaction(key, fingerprint, method, here);
        } catch (Throwable e) {
            rollBack(status, e);
            throw e;
        }
        manager.commit(status);
        return stored;
    }

    /** Returns the transaction of a call whose caller has none, or one that has ended: its callbacks still see it. */
    private TransactionDefinition outsideOfCaller() {
        if (!(manager instanceof ResourceTransactionManager)
                && !TransactionSynchronizationManager.isActualTransactionActive()) {
            // Another program may have begun one of JTA.
            return definition;
        }
        DefaultTransactionDefinition own = new DefaultTransactionDefinition(definition);
        own.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        return own;
    }

    @Override
    public Object table() {
        return List.of(source, keys);
    }

    @Override
    public int purge() throws SQLException {
        try (Connection connection = source.getConnection()) {
            boolean commits = connection.getAutoCommit();
            if (!commits) {
                connection.setAutoCommit(true);
            }
            try {
                return keys.purge(connection);
            } finally {
                if (!commits) {
                    // A pool that hands out such connections expects them back so.
                    connection.setAutoCommit(false);
                }
            }
        }
    }

    private @Nullable String inTransaction(String key, String fingerprint, OnceCalls.Method method, Ran here)
            throws Throwable {
        OnceSetup.requireIncluded(source, manager, operation);
        Connection connection = DataSourceUtils.getConnection(source);
        try {
            return once.<RuntimeException>run(connection, key, fingerprint, inside -> {
                here.begun = true;
                here.result = proceed(method);
                here.ran = true;
                if (values.isFailure(here.result)) {
                    throw new FailedAnswer(here.result);
                }
                return values.write(here.result);
            });
        } catch (Failed e) {
            Throwable failure = requireNonNull(e.getCause());
            for (Throwable each : e.getSuppressed()) {
                failure.addSuppressed(each);
            }
            throw failure;
        } catch (SQLException e) {
            String task = operation.place();
            DataAccessException translated = new SQLExceptionSubclassTranslator().translate(task, null, e);
            throw translated != null ? translated : new UncategorizedSQLException(task, null, e);
        } finally {
            DataSourceUtils.releaseConnection(connection, source);
        }
    }

    private static @Nullable Object proceed(OnceCalls.Method method) {
        try {
            return method.proceed();
        } catch (Throwable e) {
            throw new Failed(e);
        }
    }

    private void rollBack(TransactionStatus status, Throwable failure) {
        try {
            if (!status.isCompleted()) {
                manager.rollback(status);
            }
        } catch (RuntimeException | Error e) {
            failure.addSuppressed(e);
        }
    }
}
