package io.holdfast.cdi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import jakarta.annotation.PostConstruct;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.Dependent;
import jakarta.enterprise.inject.Produces;
import jakarta.enterprise.inject.se.SeContainer;
import jakarta.inject.Named;
import jakarta.inject.Qualifier;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A method that cannot be locked fails the start: no fault waits for its first call, and nothing runs unlocked. */
class AtStartTest {

    @Dependent
    @SuppressWarnings("UnusedMethod")
    static class Private {
        @Locked("x")
        private void method() {}
    }

    @Dependent
    static class Static {
        @Locked("x")
        static void method() {}
    }

    @Dependent
    static class Made {
        @PostConstruct
        @Locked("x")
        void method() {}
    }

    interface Declares {
        @Locked("x")
        void method();
    }

    @Dependent
    static class OfInterface implements Declares {
        @Override
        public void method() {}
    }

    @Dependent
    static class Nameless {
        @Locked
        void method() {}
    }

    @Dependent
    static class Expression {
        @Locked(name = "order:#{id}")
        void method(long id) {}
    }

    @Dependent
    static class Both {
        @Locked("x")
        @ScheduledLock(name = "y")
        void method() {}
    }

    @Dependent
    static class NoPermits {
        @Limited("x")
        void method() {}
    }

    @Dependent
    static class TooHeavy {
        @Limited(name = "x", permits = "2", weight = "3")
        void method() {}
    }

    @Dependent
    static class NoUnit {
        @Locked(name = "x", waitTime = "10")
        void method() {}
    }

    @Dependent
    static class TwoTimes {
        @Locked(name = "x", leaseTime = "10s", holdAtMost = "20s")
        void method() {}
    }

    @Dependent
    static class LongAtLeast {
        @ScheduledLock(name = "x", atLeast = "5m", atMost = "1m")
        void method() {}
    }

    @Dependent
    static class PrimitiveSkip {
        @Locked(name = "x", onBusy = OnBusy.SKIP)
        int method() {
            return 1;
        }
    }

    @Dependent
    static class TwoLeases {
        @Locked("x")
        void method(Lease first, Lease second) {}
    }

    @Dependent
    static class GoesOn {
        @Locked("x")
        Future<String> method() {
            throw new AssertionError();
        }
    }

    @Dependent
    static class NoValue {
        @Locked(name = "x", key = "orderId")
        void method(long orderId) {}
    }

    @Dependent
    static class NoParameter {
        @Locked(name = "x", key = "{order}")
        void method(long orderId, String site) {}
    }

    @Dependent
    static class NoIndex {
        @Locked(name = "x", key = "{1}")
        void method(long orderId) {}
    }

    @Dependent
    static class NoGetter {
        @Locked(name = "x", key = "{0.customer.name}")
        void method(LockedTest.Order order) {}
    }

    @Dependent
    static class Brace {
        @Locked(name = "x", key = "{0}:{1")
        void method(long orderId, long part) {}
    }

    @Dependent
    static class NoClient {
        @Locked(name = "x", client = "reports")
        void method() {}
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "Private | a private, static or final method cannot be intercepted, so it would run without its lock",
                "Static | a private, static or final method cannot be intercepted",
                "Made | the container calls the method while it makes or ends the bean, so it would run without",
                "OfInterface | CDI does not see the annotations of an interface",
                "Nameless | it has no name (expected: name = \"order.refund\", for example)",
                "Expression | name \"order:#{id}\" is a constant, so all calls would share one lock",
                "Both | together with @ScheduledLock on the same method (expected: one of them)",
                "NoPermits | permits = \"\" (expected: a number from 1 to 1048576)",
                "TooHeavy | weight = \"3\" (expected: a number from 1 to 2)",
                "NoUnit | waitTime: \"10\" (expected: a number with its unit, for example 500ms, 10s or 5m)",
                "TwoTimes | holdAtMost: 20 s together with leaseFor: 10 s (expected: one of them",
                "LongAtLeast | for at least 5 min, and for at most 1 min (expected: a shorter time at least)",
                "PrimitiveSkip | a skipped call returns null or empty, but it returns int",
                "TwoLeases | two parameters for the lease (expected: one)",
                "GoesOn | the end of the work behind a java.util.concurrent.Future is not known",
                "NoValue | key \"orderId\" has no value of the call, so all calls would share one lock",
                "NoParameter | there is no parameter {order} (expected: {orderId} or {site})",
                "NoIndex | {1}, but the method has one parameter (expected: {0} for the first)",
                "NoGetter | {0.customer.name}: io.holdfast.cdi.LockedTest$Customer has no \"name\"",
                "Brace | key \"{0}:{1\" has a brace without its other",
                "NoClient | there is no LockClient bean with @Named(\"reports\")",
            })
    void a_declaration_that_cannot_work_ends_the_start(String bean, String why) throws ClassNotFoundException {
        Class<?> type = Class.forName(AtStartTest.class.getName() + "$" + bean);
        assertThatThrownBy(() -> Containers.start("memory:start", type).close())
                .hasMessageContaining(why)
                .hasMessageContaining("(expected: ")
                .hasMessageContaining("method(");
    }

    @Dependent
    static class Fine {
        @Locked("x")
        void method() {}
    }

    @Test
    void without_a_store_and_a_client_the_start_ends_with_the_setting_that_is_missing() {
        assertThatThrownBy(() -> Containers.start("", Fine.class).close())
                .hasStackTraceContaining("holdfast.store is not set, and there is no LockClient bean (expected: a URI");
    }

    @Test
    void without_a_locked_method_no_client_is_needed() {
        Containers.start("").close();
    }

    @Qualifier
    @Retention(RetentionPolicy.RUNTIME)
    @interface Reports {}

    /** A bean with @Named alone would be one for injection without a qualifier, too. */
    @ApplicationScoped
    static class OwnClients {

        @Produces
        LockClient own = LockClient.connect("memory:own");

        @Produces
        @Reports
        @Named("reports")
        LockClient reports = LockClient.connect("memory:reports");
    }

    @Dependent
    static class OnReports {

        @Locked(name = "here")
        String own(Lease lease) {
            return lease.name();
        }

        @Locked(name = "there", client = "reports")
        boolean isAtReports() {
            try (LockClient other = LockClient.connect("memory:reports")) {
                return other.inspect("there").isLocked();
            }
        }
    }

    @Test
    void a_client_of_the_application_replaces_that_of_the_settings() {
        try (SeContainer container = Containers.start("memory:unused", OwnClients.class, OnReports.class)) {
            assertThat(container.select(LockClient.class).stream().count()).isEqualTo(1);
            assertThat(container.select(OnReports.class).get().own(null)).isEqualTo("here");
            assertThat(container.select(OnReports.class).get().isAtReports()).isTrue();
        }
    }
}
