package io.holdfast.jdbc;

import io.holdfast.Lease;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A connection that checks the leases of the calling thread before a statement. A dynamic proxy, so that it has every
 * method that the driver's connection has on this JDK.
 *
 * <p>Invariant: when a statement of a writing transaction is sent, each lease that the supplier returns was checked in
 * this transaction, or in another one of the same thread and data source that is still open. When the transaction is
 * committed, this is still so for each lease that it left to another transaction.
 *
 * <p>As any connection it is for one thread at a time.
 */
final class GuardedConnection implements InvocationHandler {

    /** Recognizes a guarded connection under other wrappers, by {@code isWrapperFor}. */
    interface Marker {}

    private static final ThreadLocal<@Nullable List<GuardedConnection>> OPEN = new ThreadLocal<>();

    private final Connection target;
    private final Object source;
    private final JdbcGuard guard;
    private final Supplier<? extends Collection<? extends Lease>> leases;

    /** Checked in the current transaction. */
    private final Set<Lease> checked = Collections.newSetFromMap(new IdentityHashMap<>());

    /** The leases that the current transaction does not check, because another one of the thread had checked them. */
    private final Set<Lease> left = Collections.newSetFromMap(new IdentityHashMap<>());

    /** The thread's list that this connection is in while it has checked leases. Another thread may remove it. */
    private @Nullable List<GuardedConnection> open;

    /** Why the current transaction must be rolled back. */
    private @Nullable Throwable refusal;

    private GuardedConnection(
            Connection target, Object source, JdbcGuard guard, Supplier<? extends Collection<? extends Lease>> leases) {
        this.target = target;
        this.source = source;
        this.guard = guard;
        this.leases = leases;
    }

    static Connection of(
            Connection target, Object source, JdbcGuard guard, Supplier<? extends Collection<? extends Lease>> leases) {
        return proxy(Connection.class, new GuardedConnection(target, source, guard, leases));
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(
                Proxy.newProxyInstance(GuardedConnection.class.getClassLoader(), new Class<?>[] {type}, handler));
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
        return switch (method.getName()) {
            case "equals" -> isSame(proxy, arguments);
            case "hashCode" -> System.identityHashCode(proxy);
            case "isWrapperFor" ->
                requireArguments(arguments)[0] == Marker.class || Boolean.TRUE.equals(call(method, arguments));
            case "setSavepoint" -> {
                // The lock on the row must not end with a rollback to the savepoint.
                beforeStatement();
                yield call(method, arguments);
            }
            case "commit" -> {
                beforeCommit();
                yield callLast(method, arguments);
            }
            case "setAutoCommit" -> {
                if (requireArguments(arguments)[0].equals(target.getAutoCommit())) {
                    yield null;
                }
                beforeCommit();
                yield callLast(method, arguments);
            }
            case "rollback" -> {
                if (arguments == null) {
                    yield callLast(method, arguments);
                }
                // A check since the savepoint is undone, so the next statement repeats it.
                checked.clear();
                yield call(method, arguments);
            }
            case "close", "abort" -> callLast(method, arguments);
            default -> {
                Object result = call(method, arguments);
                yield result instanceof Statement statement ? guarded((Connection) proxy, statement) : result;
            }
        };
    }

    private @Nullable Object call(Method method, Object @Nullable [] arguments) throws Throwable {
        return call(target, method, arguments);
    }

    /** Calls a method after which the transaction has ended, whatever it throws. */
    private @Nullable Object callLast(Method method, Object @Nullable [] arguments) throws Throwable {
        try {
            return call(method, arguments);
        } finally {
            end();
        }
    }

    private static @Nullable Object call(Object target, Method method, Object @Nullable [] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getTargetException();
        }
    }

    @SuppressWarnings("ReferenceEquality") // a proxy equals itself only
    private static boolean isSame(Object proxy, Object @Nullable [] arguments) {
        return proxy == requireArguments(arguments)[0];
    }

    private static Object[] requireArguments(Object @Nullable [] arguments) {
        if (arguments == null) {
            throw new IllegalArgumentException("No argument (expected: one)");
        }
        return arguments;
    }

    private Statement guarded(Connection proxy, Statement statement) {
        Class<? extends Statement> type = statement instanceof CallableStatement
                ? CallableStatement.class
                : statement instanceof PreparedStatement ? PreparedStatement.class : Statement.class;
        return proxy(type, (self, method, arguments) -> switch (method.getName()) {
            case "equals" -> isSame(self, arguments);
            case "hashCode" -> System.identityHashCode(self);
            case "getConnection" -> proxy;
            default -> {
                if (method.getName().startsWith("execute")) {
                    beforeStatement();
                }
                yield call(statement, method, arguments);
            }
        });
    }

    private void beforeStatement() throws SQLException {
        requireNotRefused();
        if (target.getAutoCommit() || target.isReadOnly()) {
            return;
        }
        List<Lease> missing = new ArrayList<>();
        for (Lease lease : leases.get()) {
            if (!checked.contains(lease)) {
                if (isCheckedElsewhere(lease)) {
                    left.add(lease);
                } else {
                    missing.add(lease);
                }
            }
        }
        check(missing);
    }

    /** Checks the leases that the transaction had left to another one, if that one has ended. */
    private void beforeCommit() throws SQLException {
        requireNotRefused();
        check(left.stream()
                .filter(lease -> !checked.contains(lease) && !isCheckedElsewhere(lease))
                .toList());
    }

    private void check(List<Lease> missing) throws SQLException {
        if (missing.isEmpty()) {
            return;
        }
        try {
            guard.check(target, missing);
        } catch (SQLException | RuntimeException e) {
            refusal = e;
            throw e;
        }
        checked.addAll(missing);
        if (open == null) {
            List<GuardedConnection> all = OPEN.get();
            if (all == null) {
                all = new CopyOnWriteArrayList<>();
                OPEN.set(all);
            }
            all.add(this);
            open = all;
        }
    }

    private void requireNotRefused() throws SQLException {
        if (refusal != null) {
            throw new SQLException(
                    "The guard refused this transaction, so it must be rolled back (expected: rollback())", refusal);
        }
    }

    @SuppressWarnings("ReferenceEquality") // the same data source, and another connection
    private boolean isCheckedElsewhere(Lease lease) {
        List<GuardedConnection> all = OPEN.get();
        return all != null
                && all.stream()
                        .anyMatch(other -> other != this && other.source == source && other.checked.contains(lease));
    }

    @SuppressWarnings("ReferenceEquality") // this very list
    private void end() {
        checked.clear();
        left.clear();
        refusal = null;
        if (open != null) {
            open.remove(this);
            if (open.isEmpty() && OPEN.get() == open) {
                OPEN.remove();
            }
            open = null;
        }
    }
}
