package io.holdfast.spring.call;

import io.holdfast.spring.LockedDefaults;
import io.holdfast.spring.OuterTransaction;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.NoTransactionException;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;
import reactor.util.context.ContextView;

/**
 * Reports, or refuses, locks that are acquired inside a running transaction above READ COMMITTED: its snapshot may be
 * older than the lock. Without spring-tx there is none.
 */
final class OuterTransactions {

    private static final System.Logger LOG = System.getLogger(OuterTransactions.class.getName());

    private final Supplier<LockedDefaults> defaults;

    /** The callers that were reported. */
    private final Set<String> reported = ConcurrentHashMap.newKeySet();

    /** The levels that the connections of each data source have by default. */
    private final Map<Object, Integer> defaultLevels = new ConcurrentHashMap<>();

    OuterTransactions(Supplier<LockedDefaults> defaults) {
        this.defaults = defaults;
    }

    /**
     * Checks the transaction of the thread before a lock is acquired.
     *
     * @param caller what acquires, as the subject of a sentence
     * @param method the locked method; null: a callback
     * @throws IllegalStateException if it is refused
     */
    void check(String caller, @Nullable Method method, @Nullable Class<?> targetClass) {
        if (!HeldLeases.TRANSACTIONS || !Transactions.isActive()) {
            return;
        }
        OuterTransaction rule = defaults.get().outerTransaction();
        if (rule == OuterTransaction.IGNORE || (rule == OuterTransaction.WARN && reported.contains(caller))) {
            return;
        }
        int level = Transactions.level(defaultLevels);
        if (level <= Connection.TRANSACTION_READ_COMMITTED
                || (method != null && Transactions.leavesOuter(method, targetClass))) {
            return;
        }
        String what = caller + " acquires a lock inside a transaction that began before, with isolation "
                + (level >= Connection.TRANSACTION_SERIALIZABLE ? "SERIALIZABLE" : "REPEATABLE READ")
                + ": its reads may be older than the lock, and miss what the last holder has committed (expected: the"
                + " lock on the method that begins the transaction, or isolation READ COMMITTED, or"
                + " holdfast.outer-transaction=ignore)";
        if (rule == OuterTransaction.REFUSE) {
            throw new IllegalStateException(what);
        }
        if (reported.add(caller)) {
            LOG.log(System.Logger.Level.WARNING, what);
        }
    }

    /** Returns whether the method, called by this thread now, would work in a transaction that began before. */
    static boolean includes(Method method, Class<?> targetClass) {
        return HeldLeases.TRANSACTIONS && Transactions.isActive() && !Transactions.leavesOuter(method, targetClass);
    }

    /** The same for a subscriber with this context: a reactive transaction belongs to that, and to no thread. */
    static boolean includes(ContextView subscriber, Method method, Class<?> targetClass) {
        return HeldLeases.TRANSACTIONS
                && ReactiveTransactions.isActive(subscriber)
                && !Transactions.leavesOuter(method, targetClass);
    }

    /** Loaded only where spring-tx and Reactor are present. */
    private static final class ReactiveTransactions {

        private ReactiveTransactions() {}

        static boolean isActive(ContextView subscriber) {
            return org.springframework.transaction.reactive.TransactionSynchronizationManager.forCurrentTransaction()
                    .map(current -> current.isActualTransactionActive())
                    .onErrorReturn(NoTransactionException.class, false)
                    .contextWrite(subscriber)
                    .toFuture()
                    .getNow(false);
        }
    }

    /** Loaded only where spring-tx is present. */
    private static final class Transactions {

        private static final boolean JDBC = ClassUtils.isPresent(
                "org.springframework.jdbc.datasource.ConnectionHolder", OuterTransactions.class.getClassLoader());

        private static final TransactionAttributeSource ATTRIBUTES = attributes();

        /** Only the propagation is read, so a number stands for each placeholder. */
        private static TransactionAttributeSource attributes() {
            AnnotationTransactionAttributeSource source = new AnnotationTransactionAttributeSource(false);
            source.setEmbeddedValueResolver(placeholder -> "-1");
            return source;
        }

        private Transactions() {}

        static boolean isActive() {
            return CommitBegun.isBefore();
        }

        /** Returns whether the method runs outside the transaction of its caller, and so does not read in it. */
        static boolean leavesOuter(Method method, @Nullable Class<?> targetClass) {
            TransactionAttribute own = ATTRIBUTES.getTransactionAttribute(method, targetClass);
            return own != null
                    && (own.getPropagationBehavior() == TransactionAttribute.PROPAGATION_REQUIRES_NEW
                            || own.getPropagationBehavior() == TransactionAttribute.PROPAGATION_NOT_SUPPORTED);
        }

        /** Returns the isolation of the transaction; 0 if it is not known, as without a JDBC connection. */
        static int level(Map<Object, Integer> defaults) {
            Integer level = TransactionSynchronizationManager.getCurrentTransactionIsolationLevel();
            if (level != null) {
                return level;
            }
            return JDBC ? Connections.defaultLevel(defaults) : 0;
        }
    }

    /** Loaded only where spring-jdbc is present. */
    private static final class Connections {

        private Connections() {}

        /** Returns the highest default level of the data sources that have a connection in the transaction. */
        static int defaultLevel(Map<Object, Integer> known) {
            int highest = 0;
            for (Map.Entry<Object, Object> bound :
                    TransactionSynchronizationManager.getResourceMap().entrySet()) {
                if (bound.getKey() instanceof DataSource source && bound.getValue() instanceof ConnectionHolder) {
                    highest = Math.max(highest, level(source, known));
                }
            }
            return highest;
        }

        /** Some drivers ask the database, so each data source is asked once. */
        private static int level(DataSource source, Map<Object, Integer> levels) {
            Integer known = levels.get(source);
            if (known != null) {
                return known;
            }
            Connection connection = DataSourceUtils.getConnection(source);
            try {
                int level = connection.getTransactionIsolation();
                levels.put(source, level);
                return level;
            } catch (SQLException e) {
                LOG.log(System.Logger.Level.DEBUG, "The isolation of the caller's transaction is not known", e);
                return 0;
            } finally {
                DataSourceUtils.releaseConnection(connection, source);
            }
        }
    }
}
