package io.holdfast.spring.call;

import io.holdfast.spring.declaration.LockedDefinitionException;
import io.holdfast.spring.declaration.LockedOperation;
import java.util.Map;
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

    public OnceCalls(ConfigurableListableBeanFactory beans) {
        this.beans = beans;
        this.json = SingletonSupplier.ofNullable(() -> OnceJson.of(beans));
    }

    /** Receives the operation of a method of a bean. */
    public void declare(LockedOperation operation) {
        if (operation.kind().isOnce()) {
            declared.put(operation, true);
        }
    }

    /** Returns how many methods do their work once. */
    public int count() {
        return declared.size();
    }

    /**
     * Checks that all operations that were declared can work, when all singletons are made, so that migrations have run.
     *
     * @throws LockedDefinitionException if one cannot
     */
    public void check() {
        declared.keySet().forEach(this::work);
    }

    Work work(LockedOperation operation) {
        Work known = works.get(operation);
        if (known == null) {
            known = make(operation);
            works.put(operation, known);
        }
        return known;
    }

    private Work make(LockedOperation operation) {
        require(operation, "io.holdfast.jdbc.JdbcOnce", "holdfast-jdbc", "io.holdfast:holdfast-jdbc");
        require(
                operation,
                "org.springframework.jdbc.datasource.DataSourceUtils",
                "spring-jdbc",
                "org.springframework.boot:spring-boot-starter-jdbc or -data-jpa");
        return OnceTransaction.of(beans, operation, json.get());
    }

    private static void require(LockedOperation operation, String type, String what, String dependency) {
        if (!ClassUtils.isPresent(type, OnceCalls.class.getClassLoader())) {
            throw new LockedDefinitionException(
                    operation.place(), what + " is not on the class path", "the dependency " + dependency);
        }
    }
}
