package io.holdfast.spring.call;

import static java.util.Objects.requireNonNull;

import io.holdfast.jdbc.JdbcOnce;
import io.holdfast.spring.declaration.LockedDefinitionException;
import io.holdfast.spring.declaration.LockedOperation;
import io.holdfast.spring.declaration.Once;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.EmbeddedValueResolver;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.StringUtils;

/** Finds what work that is done once needs, and refuses the start without it. */
final class OnceSetup {

    private static final System.Logger LOG = System.getLogger(OnceSetup.class.getName());

    private final ConfigurableListableBeanFactory beans;
    private final LockedOperation operation;
    private final Once rules;
    private final @Nullable OnceJson json;
    private final OnceCalls calls;

    /** @param json null: the application has no mapper */
    OnceSetup(
            ConfigurableListableBeanFactory beans,
            LockedOperation operation,
            @Nullable OnceJson json,
            OnceCalls calls) {
        this.calls = calls;
        this.beans = beans;
        this.operation = operation;
        this.rules = requireNonNull(operation.once());
        this.json = json;
    }

    OnceCalls.Work work() {
        AnnotationTransactionAttributeSource attributes = new AnnotationTransactionAttributeSource(false);
        attributes.setEmbeddedValueResolver(new EmbeddedValueResolver(beans));
        TransactionAttribute own = attributes.getTransactionAttribute(operation.method(), rules.targetClass());
        TransactionDefinition definition = definition(own);
        PlatformTransactionManager manager = manager(own);
        DataSource source = source(manager);
        JdbcOnce keys = beans.getBeanProvider(JdbcOnce.class).getIfAvailable(JdbcOnce::defaults);
        OnceValues values = new OnceValues(operation, json);
        values.check();
        if (!"lazy"
                .equalsIgnoreCase(beans.getBean(Environment.class)
                        .getProperty("holdfast.startup", "")
                        .strip())) {
            // One question for all methods, so a database that is away is waited for once.
            if (calls.isFirst(List.of(manager, source, keys))) {
                probe(manager, source, keys);
            }
        }
        return new OnceTransaction(
                operation, manager, definition, source, keys, keys.keepFor(rules.keepFor()), values, calls);
    }

    /** Returns the transaction of the method, with the isolation and timeout of its own {@code @Transactional}. */
    private TransactionDefinition definition(@Nullable TransactionAttribute own) {
        DefaultTransactionDefinition definition = new DefaultTransactionDefinition();
        definition.setName(operation.describe());
        if (own == null) {
            return definition;
        }
        int propagation = own.getPropagationBehavior();
        if (propagation == TransactionDefinition.PROPAGATION_REQUIRES_NEW
                || propagation == TransactionDefinition.PROPAGATION_NOT_SUPPORTED
                || propagation == TransactionDefinition.PROPAGATION_NEVER) {
            throw refused(
                    "its @Transactional leaves the transaction that has the key, so its effects would be committed"
                            + " without the key",
                    "propagation REQUIRED");
        }
        if (own.isReadOnly()) {
            throw refused("its @Transactional is read-only, and the key is written", "readOnly = false");
        }
        definition.setIsolationLevel(own.getIsolationLevel());
        definition.setTimeout(own.getTimeout());
        return definition;
    }

    private PlatformTransactionManager manager(@Nullable TransactionAttribute own) {
        String name = rules.transactionManager();
        String qualifier = own == null ? "" : String.valueOf(own.getQualifier() == null ? "" : own.getQualifier());
        if (!name.isEmpty() && !qualifier.isEmpty() && !name.equals(qualifier)) {
            throw refused(
                    "transactionManager \"" + name + "\" is not that of its @Transactional, \"" + qualifier + "\"",
                    "the same one, since key and effects are committed together");
        }
        String wanted = name.isEmpty() ? qualifier : name;
        try {
            return StringUtils.hasText(wanted)
                    ? BeanFactoryAnnotationUtils.qualifiedBeanOfType(beans, PlatformTransactionManager.class, wanted)
                    : beans.getBean(PlatformTransactionManager.class);
        } catch (NoSuchBeanDefinitionException e) {
            throw refused(
                    wanted.isEmpty()
                            ? "there is no transaction manager bean, or there are several and none is primary"
                            : "there is no transaction manager with the name or qualifier \"" + wanted + "\"",
                    "a DataSource with its transaction manager, as spring-boot-starter-jdbc makes them, or"
                            + " transactionManager = its name" + OnceCalls.OR_IN_STORE);
        }
    }

    private DataSource source(PlatformTransactionManager manager) {
        if (manager instanceof ResourceTransactionManager resources
                && resources.getResourceFactory() instanceof DataSource own) {
            return own;
        }
        Method getter = ReflectionUtils.findMethod(manager.getClass(), "getDataSource");
        if (getter != null && ReflectionUtils.invokeMethod(getter, manager) instanceof DataSource own) {
            // Of JPA: several databases have one manager each.
            return own;
        }
        DataSource only = beans.getBeanProvider(DataSource.class).getIfUnique();
        if (only == null) {
            throw refused(
                    "there is no DataSource bean, or there are several and none is primary",
                    "the DataSource of the transaction manager as the only or primary one");
        }
        return only;
    }

    /** Begins a transaction as a call does. A database that is away may come back, so that is a warning. */
    private void probe(PlatformTransactionManager manager, DataSource source, JdbcOnce once) {
        TransactionStatus status = null;
        try {
            status = manager.getTransaction(new DefaultTransactionDefinition());
            requireIncluded(source, manager, operation);
            Connection connection = DataSourceUtils.getConnection(source);
            try {
                if (connection.getAutoCommit()) {
                    throw notIncluded(manager, operation);
                }
                once.requireTable(connection);
            } finally {
                DataSourceUtils.releaseConnection(connection, source);
            }
        } catch (LockedDefinitionException e) {
            throw e;
        } catch (IllegalStateException e) {
            throw tableRefused(e);
        } catch (SQLException | TransactionException | org.springframework.dao.DataAccessException e) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "{0}: the table of the keys could not be looked for: {1}",
                    operation.place(),
                    e);
        } finally {
            if (status != null) {
                manager.rollback(status);
            }
        }
    }

    /**
     * Refuses a transaction that binds its connections, and none of this DataSource. Whether a connection commits by
     * itself does not tell: a pool may say no for all of them.
     */
    static void requireIncluded(DataSource source, PlatformTransactionManager manager, LockedOperation operation) {
        if (manager instanceof ResourceTransactionManager && !TransactionSynchronizationManager.hasResource(source)) {
            throw notIncluded(manager, operation);
        }
    }

    private static LockedDefinitionException notIncluded(
            PlatformTransactionManager manager, LockedOperation operation) {
        return new LockedDefinitionException(
                operation.place(),
                "a transaction of its " + manager.getClass().getSimpleName()
                        + " does not include the connections of the DataSource, so key and effects would not be"
                        + " committed together",
                "transactionManager = the one of the DataSource");
    }

    private LockedDefinitionException tableRefused(IllegalStateException e) {
        LockedDefinitionException refused = new LockedDefinitionException(
                operation.place(),
                String.valueOf(e.getMessage()),
                "the table from a migration (Flyway, Liquibase, schema.sql), or holdfast.startup=lazy if it is made"
                        + " after the start");
        refused.initCause(e);
        return refused;
    }

    private LockedDefinitionException refused(String what, String wayOut) {
        return new LockedDefinitionException(operation.place(), what, wayOut);
    }
}
