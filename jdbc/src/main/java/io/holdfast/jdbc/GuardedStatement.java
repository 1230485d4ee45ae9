package io.holdfast.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;

/** A statement of a {@link GuardedConnection}: tells the transaction what is sent, and how it failed. */
final class GuardedStatement implements InvocationHandler {

    private final Statement target;
    private final Connection connection;
    private final GuardedTransaction transaction;

    /** Whether the statement that was prepared may end the transaction. */
    private final boolean preparedMayEnd;

    /** Whether a statement that was added to the batch may. */
    private boolean batchMayEnd;

    private GuardedStatement(
            Statement target, Connection connection, GuardedTransaction transaction, boolean preparedMayEnd) {
        this.target = target;
        this.connection = connection;
        this.transaction = transaction;
        this.preparedMayEnd = preparedMayEnd;
    }

    /** @param prepared the text that was prepared; null if the text comes with each call */
    static Statement of(
            Statement target, Connection connection, GuardedTransaction transaction, @Nullable String prepared) {
        Class<? extends Statement> type = target instanceof CallableStatement
                ? CallableStatement.class
                : target instanceof PreparedStatement ? PreparedStatement.class : Statement.class;
        boolean mayEnd =
                target instanceof CallableStatement || (prepared != null && SqlText.mayEndTransaction(prepared));
        return Calls.proxy(type, new GuardedStatement(target, connection, transaction, mayEnd));
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
        String name = method.getName();
        return switch (name) {
            case "equals" -> Calls.isSame(proxy, arguments);
            case "hashCode" -> System.identityHashCode(proxy);
            case "getConnection" -> connection;
            case "addBatch" -> {
                batchMayEnd |= arguments != null && SqlText.mayEndTransaction((String) arguments[0]);
                yield Calls.call(target, method, arguments);
            }
            case "clearBatch" -> {
                batchMayEnd = false;
                yield Calls.call(target, method, arguments);
            }
            default -> name.startsWith("execute") ? execute(method, arguments) : Calls.call(target, method, arguments);
        };
    }

    private @Nullable Object execute(Method method, Object @Nullable [] arguments) throws Throwable {
        boolean mayEnd =
                arguments == null ? preparedMayEnd || batchMayEnd : SqlText.mayEndTransaction((String) arguments[0]);
        if (method.getName().endsWith("Batch")) {
            batchMayEnd = false;
        }
        transaction.beforeStatement(mayEnd);
        try {
            return Calls.call(target, method, arguments);
        } catch (SQLException e) {
            transaction.onFailure(e);
            throw e;
        }
    }
}
