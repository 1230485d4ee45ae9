package io.holdfast.cdi;

import static io.holdfast.cdi.LockedTest.held;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import jakarta.annotation.Priority;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.se.SeContainer;
import jakarta.inject.Inject;
import jakarta.interceptor.AroundInvoke;
import jakarta.interceptor.Interceptor;
import jakarta.interceptor.InterceptorBinding;
import jakarta.interceptor.InvocationContext;
import jakarta.transaction.Status;
import jakarta.transaction.Synchronization;
import jakarta.transaction.TransactionSynchronizationRegistry;
import jakarta.transaction.Transactional;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;

/**
 * The lock, the transaction and the retries around a method; samples/quarkus has the same with a real transaction
 * manager.
 */
class OrderTest {

    /** What happened, with the names that were held then. */
    private static final List<String> seen = new ArrayList<>();

    /** A transaction manager for one thread at a time; the others have no transaction. */
    @ApplicationScoped
    static class Transactions implements TransactionSynchronizationRegistry {

        @Inject
        LockClient client;

        private final Map<Object, Object> resources = new HashMap<>();
        private final List<Synchronization> synchronizations = new ArrayList<>();
        private final ThreadLocal<Integer> status = ThreadLocal.withInitial(() -> Status.STATUS_NO_TRANSACTION);

        boolean begin() {
            boolean begins = status.get() == Status.STATUS_NO_TRANSACTION;
            status.set(Status.STATUS_ACTIVE);
            return begins;
        }

        void end(boolean commits) {
            int result = commits ? Status.STATUS_COMMITTED : Status.STATUS_ROLLEDBACK;
            RuntimeException why = null;
            try {
                if (commits) {
                    synchronizations.forEach(Synchronization::beforeCompletion);
                }
            } catch (RuntimeException e) {
                result = Status.STATUS_ROLLEDBACK;
                why = e;
            }
            seen.add((result == Status.STATUS_COMMITTED ? "commit " : "rollback ") + held(client));
            status.remove();
            for (Synchronization each : synchronizations) {
                each.afterCompletion(result);
            }
            synchronizations.clear();
            resources.clear();
            if (why != null) {
                throw new IllegalStateException("rolled back", why);
            }
        }

        @Override
        public Object getTransactionKey() {
            return status.get() == Status.STATUS_ACTIVE ? this : null;
        }

        @Override
        public void putResource(Object key, Object value) {
            resources.put(key, value);
        }

        @Override
        public Object getResource(Object key) {
            return resources.get(key);
        }

        @Override
        public void registerInterposedSynchronization(Synchronization synchronization) {
            synchronizations.add(synchronization);
        }

        @Override
        public int getTransactionStatus() {
            return status.get();
        }

        @Override
        public void setRollbackOnly() {}

        @Override
        public boolean getRollbackOnly() {
            return false;
        }
    }

    @Interceptor
    @Transactional
    @Priority(Interceptor.Priority.PLATFORM_BEFORE + 200)
    static class TransactionalInterceptor {

        @Inject
        Transactions transactions;

        @AroundInvoke
        Object around(InvocationContext call) throws Exception {
            boolean begins = transactions.begin();
            boolean commits = false;
            try {
                Object result = call.proceed();
                commits = true;
                return result;
            } finally {
                if (begins) {
                    transactions.end(commits);
                }
            }
        }
    }

    @InterceptorBinding
    @Inherited
    @Retention(RetentionPolicy.RUNTIME)
    @interface Retry {}

    /** With the priority of MicroProfile Fault Tolerance. */
    @Interceptor
    @Retry
    @Priority(Interceptor.Priority.PLATFORM_AFTER + 10)
    static class RetryInterceptor {

        @Inject
        LockClient client;

        @AroundInvoke
        Object around(InvocationContext call) throws Exception {
            seen.add("retries " + held(client));
            return call.proceed();
        }
    }

    @ApplicationScoped
    static class Caller {

        @Inject
        Work work;

        @Transactional
        void call() {
            work.pay();
            work.pay();
        }

        @Transactional
        void failing() {
            work.pay();
            throw new IllegalStateException("its own");
        }

        @Transactional
        void loses() {
            work.pay();
            work.lose();
        }
    }

    @ApplicationScoped
    static class Work {

        @Inject
        LockClient client;

        @Locked("account")
        @Transactional
        void pay() {
            seen.add("pay " + held(client));
        }

        @Locked("account")
        @Transactional
        void paysAndLoses() {
            lose();
        }

        @Locked("account")
        @Retry
        void retried() {
            seen.add("retried");
        }

        void lose() {
            assertThat(client.forceRelease("account")).isTrue();
            await().until(() -> held(client).isEmpty());
        }
    }

    @Test
    void the_lock_is_outside_of_the_transaction_and_of_retries() {
        run((caller, work) -> {
            work.pay();
            work.retried();
            assertThat(seen).containsExactly("pay [account]", "commit [account]", "retries [account]", "retried");
        });
    }

    @Test
    void the_lock_outlasts_the_transaction_of_the_caller() {
        run((caller, work) -> {
            caller.call();
            assertThatThrownBy(caller::failing).hasMessage("its own");
            assertThat(seen)
                    .containsExactly(
                            "pay [account]",
                            "pay [account]",
                            "commit [account]",
                            "pay [account]",
                            "rollback [account]");
        });
    }

    @Test
    void a_lost_lease_rolls_back() {
        run((caller, work) -> {
            assertThatThrownBy(caller::loses).hasCauseInstanceOf(LeaseLostException.class);
            assertThatThrownBy(work::paysAndLoses).hasCauseInstanceOf(LeaseLostException.class);
            assertThat(seen).containsExactly("pay [account]", "rollback []", "rollback []");
        });
    }

    private static void run(BiConsumer<Caller, Work> test) {
        seen.clear();
        try (SeContainer container = Containers.start(
                "memory:order",
                Transactions.class,
                TransactionalInterceptor.class,
                RetryInterceptor.class,
                Caller.class,
                Work.class)) {
            test.accept(
                    container.select(Caller.class).get(),
                    container.select(Work.class).get());
            assertThat(container.select(LockClient.class).get().localLocks()).isEmpty();
        }
    }
}
