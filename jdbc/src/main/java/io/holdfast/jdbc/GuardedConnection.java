package io.holdfast.jdbc;

import io.holdfast.Lease;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.Statement;
import java.util.Collection;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A connection whose transactions check the leases of the calling thread. A dynamic proxy, so that it has every method
 * that the driver's connection has on this JDK. {@link GuardedTransaction} decides; this class tells it what happens.
 *
 * <p>As any connection it is for one thread at a time.
 */
final class GuardedConnection implements InvocationHandler {

    /** Recognizes a guarded connection under other wrappers, by {@code isWrapperFor}. */
    interface Marker {}

    private final Connection target;
    private final GuardedTransaction transaction;

    private GuardedConnection(Connection target, GuardedTransaction transaction) {
        this.target = target;
        this.transaction = transaction;
    }

    static Connection of(
            Connection target, Object source, JdbcGuard guard, Supplier<? extends Collection<? extends Lease>> leases) {
        GuardedTransaction transaction = new GuardedTransaction(target, source, guard, leases);
        return Calls.proxy(Connection.class, new GuardedConnection(target, transaction));
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
        return switch (method.getName()) {
            case "equals" -> Calls.isSame(proxy, arguments);
            case "hashCode" -> System.identityHashCode(proxy);
            case "isWrapperFor" ->
                Calls.first(arguments) == Marker.class || Boolean.TRUE.equals(Calls.call(target, method, arguments));
            case "setSavepoint" -> {
                // The lock on the row must not end with a rollback to the savepoint.
                transaction.beforeSavepoint();
                yield Calls.call(target, method, arguments);
            }
            case "commit" -> {
                transaction.beforeCommit();
                yield callLast(method, arguments, transaction::onCommitOrRollback);
            }
            case "setAutoCommit" -> {
                if (Calls.first(arguments).equals(target.getAutoCommit())) {
                    yield null;
                }
                transaction.beforeAutoCommit();
                yield callLast(method, arguments, transaction::onEnd);
            }
            case "setTransactionIsolation" -> {
                transaction.beforeIsolationLevel();
                yield Calls.call(target, method, arguments);
            }
            case "rollback" -> {
                if (arguments == null) {
                    // A rollback that fails leaves what was refused.
                    Object result = Calls.call(target, method, arguments);
                    transaction.onCommitOrRollback();
                    yield result;
                }
                transaction.beforeRollbackToSavepoint();
                yield Calls.call(target, method, arguments);
            }
            case "close", "abort" -> callLast(method, arguments, transaction::onEnd);
            default -> {
                Object result = Calls.call(target, method, arguments);
                if (isReach(method, result)) {
                    transaction.onReach(!(result instanceof Statement));
                }
                yield result instanceof Statement statement
                        ? GuardedStatement.of(statement, (Connection) proxy, transaction, text(arguments))
                        : result;
            }
        };
    }

    /**
     * Returns whether the application gets something through which it can reach the database without the proxies: the
     * driver's connection, metadata and large objects, and statements, whose result sets know the driver's statement.
     */
    private static boolean isReach(Method method, @Nullable Object result) {
        return result instanceof Statement
                || method.getName().equals("unwrap")
                || method.getName().equals("getMetaData")
                || method.getName().startsWith("create");
    }

    private static @Nullable String text(Object @Nullable [] arguments) {
        return arguments != null && arguments[0] instanceof String sql ? sql : null;
    }

    /** Calls a method after which the transaction has ended, whatever the method throws. */
    private @Nullable Object callLast(Method method, Object @Nullable [] arguments, Runnable onEnd) throws Throwable {
        try {
            return Calls.call(target, method, arguments);
        } finally {
            onEnd.run();
        }
    }
}
