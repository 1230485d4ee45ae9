package io.holdfast.spring.call;

import static java.util.Objects.requireNonNull;

import io.holdfast.OnceOutcome;
import io.holdfast.spring.declaration.Kind;
import io.holdfast.spring.declaration.LazyBean;
import io.holdfast.spring.declaration.LockedDefinitionException;
import io.holdfast.spring.declaration.LockedOperation;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.expression.EvaluationContext;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Does the work of methods once for each key. Its signatures name no class of a database, because Spring reads them in
 * applications without one. Thread-safe.
 */
public final class OnceCalls {

    private static final System.Logger LOG = System.getLogger(OnceCalls.class.getName());

    /** The way out of an application without a database. */
    static final String OR_IN_STORE =
            "; or record = OnceRecord.STORE_AT_LEAST_ONCE, which needs no database, and does the"
                    + " work again if the process crashes before its result is stored";

    /** The work of one method. */
    interface Work {

        /**
         * Runs the method, or returns the stored result.
         *
         * @param key the name of the lock, which the caller holds
         * @param context for expressions; null if the operation has none
         */
        @Nullable
        Object run(String key, LockedCall call, @Nullable EvaluationContext context, Method method) throws Throwable;

        /** Returns what two works have in common if their keys are in one table; null if their keys end by themselves. */
        default @Nullable Object table() {
            return null;
        }

        /** Deletes the keys of the table that were kept for long enough, and returns how many there were. */
        default int purge() throws Exception {
            return 0;
        }
    }

    /** Counts the calls, by how they ended. */
    @FunctionalInterface
    public interface Meter {

        /**
         * Counts a call that has ended.
         *
         * @param key the name of the lock
         */
        void ended(String key, OnceOutcome outcome);
    }

    /** The method itself, and all that it is to hold inside. */
    interface Method {
        @Nullable
        Object proceed() throws Throwable;
    }

    private final ConfigurableListableBeanFactory beans;
    private final SingletonSupplier<OnceJson> json;
    private final Map<LockedOperation, Work> works = new ConcurrentHashMap<>();
    private final Map<LockedOperation, Boolean> declared = new ConcurrentHashMap<>();
    private final Set<Object> probed = ConcurrentHashMap.newKeySet();
    private final LazyBean<Meter> meter;
    private volatile Runnable whenUsed = () -> {};

    public OnceCalls(ConfigurableListableBeanFactory beans) {
        this.beans = beans;
        this.meter =
                new LazyBean<>(() -> beans.getBeanProvider(Meter.class).getIfAvailable(() -> (key, outcome) -> {}));
        this.json = SingletonSupplier.ofNullable(() -> OnceJson.of(beans));
    }

    /** Receives the operation of a method of a bean. */
    public void declare(LockedOperation operation) {
        if (operation.kind().isOnce()) {
            declared.put(operation, true);
        }
    }

    void ended(String key, OnceOutcome outcome) {
        meter.get().ended(key, outcome);
    }

    /** Returns whether nobody has asked for this before. */
    boolean isFirst(Object probe) {
        return probed.add(probe);
    }

    /** Runs this when there is a method that keeps its keys in a table: perhaps now, and for each one that comes later. */
    public void whenUsed(Runnable body) {
        whenUsed = body;
        if (works.values().stream().anyMatch(work -> work.table() != null)) {
            body.run();
        }
    }

    /** Deletes the keys that were kept for long enough, of all methods, and returns how many there were. */
    public int purge() throws Exception {
        Set<Object> tables = new HashSet<>();
        int deleted = 0;
        for (LockedOperation operation : declared.keySet()) {
            Work work = work(operation);
            Object table = work.table();
            if (table != null && tables.add(table)) {
                deleted += work.purge();
            }
        }
        return deleted;
    }

    /**
     * Checks that all operations that were declared can work, when all singletons are made, so that migrations have run.
     *
     * @throws LockedDefinitionException if one cannot
     */
    public void check() {
        declared.keySet().forEach(this::work);
        Map<List<Object>, LockedOperation> first = new HashMap<>();
        declared.keySet().stream()
                .filter(OnceCalls::isNamedByAnnotation)
                .sorted(Comparator.comparing(LockedOperation::place))
                .forEach(each -> {
                    LockedOperation other = first.putIfAbsent(
                            List.of(requireNonNull(each.once()).record(), each.constantNames()), each);
                    if (other != null && !haveOneSignature(each.method(), other.method())) {
                        LOG.log(
                                System.Logger.Level.WARNING,
                                other.place() + " and " + each.place()
                                        + " have one name, so the work of a key is done by"
                                        + " one of them only (expected: a name for each kind of work)");
                    }
                });
    }

    /** Returns whether no text in the key tells methods with one name apart. Requests have their paths. */
    private static boolean isNamedByAnnotation(LockedOperation operation) {
        return operation.kind() == Kind.ONCE
                && operation.describeNames().stream().noneMatch(name -> name.contains("'"));
    }

    /** Returns whether these may be one method, of several classes that implement it. */
    private static boolean haveOneSignature(java.lang.reflect.Method one, java.lang.reflect.Method other) {
        return one.getName().equals(other.getName())
                && Arrays.equals(one.getParameterTypes(), other.getParameterTypes());
    }

    Work work(LockedOperation operation) {
        Work known = works.get(operation);
        if (known == null) {
            known = make(operation);
            works.put(operation, known);
            if (known.table() != null) {
                whenUsed.run();
            }
        }
        return known;
    }

    /** Returns the work of an operation whose record is in the store of the locks. */
    OnceInStore inStore(LockedOperation operation) {
        return (OnceInStore) work(operation);
    }

    private Work make(LockedOperation operation) {
        if (requireNonNull(operation.once()).isInStore()) {
            return OnceInStore.of(beans, operation, json.get(), this);
        }
        require(operation, "io.holdfast.jdbc.JdbcOnce", "holdfast-jdbc", "io.holdfast:holdfast-jdbc");
        require(
                operation,
                "org.springframework.jdbc.datasource.DataSourceUtils",
                "spring-jdbc",
                "org.springframework.boot:spring-boot-starter-jdbc or -data-jpa");
        return OnceTransaction.of(beans, operation, json.get(), this);
    }

    private static void require(LockedOperation operation, String type, String what, String dependency) {
        if (!ClassUtils.isPresent(type, OnceCalls.class.getClassLoader())) {
            throw new LockedDefinitionException(
                    operation.place(),
                    what + " is not on the class path",
                    "the dependency " + dependency + OR_IN_STORE);
        }
    }
}
