package io.holdfast.spring.startup;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LeadershipListener;
import io.holdfast.Term;
import io.holdfast.spring.Leader;
import io.holdfast.spring.boot.Contexts;
import io.holdfast.spring.declaration.LockedDefinitionException;
import io.reactivex.rxjava3.core.Single;
import java.util.List;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** What would run on every node, or cannot be skipped, fails the start with one sentence. */
class LeaderAtStartTest {

    static class Nameless {
        @Leader(" ")
        public void method() {}
    }

    static class Expression {
        @Leader("#{@tenants.current()}")
        public void method() {}
    }

    static class Parameter {
        @Leader("tenant:#id")
        public void method(int id) {}
    }

    static class Placeholder {
        @Leader("${no.such.name}")
        public void method() {}
    }

    static class TooLong {
        @Leader("0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
                + "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
                + "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
                + "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
                + "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
                + "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
                + "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
                + "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
                + "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
                + "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
                + "0123456789012345678901234567890123456789")
        public void method() {}
    }

    static class Primitive {
        @Leader("x")
        public int method() {
            return 1;
        }
    }

    static class OpenEnd {
        @Leader("x")
        public Single<String> method() {
            return Single.never();
        }
    }

    static class OpenFuture {
        @Leader("x")
        public @Nullable Future<String> method() {
            return null;
        }
    }

    static class TwoTerms {
        @Leader("x")
        public void method(Term one, Term two) {}
    }

    static class Final {
        @Leader("x")
        public final void method() {}
    }

    static class Private {
        @Leader("x")
        @SuppressWarnings("UnusedMethod")
        private void method() {}
    }

    static class AtItsEnd implements DisposableBean {
        @Override
        @Leader("x")
        public void destroy() {}
    }

    static class UnknownClient {
        @Leader(value = "x", client = "zk")
        public void method() {}
    }

    @Leader("x")
    static class NoListener {
        public void method() {}
    }

    @Configuration(proxyBeanMethods = false)
    static class NoListenerBean {
        @Bean
        @Leader("x")
        String bean() {
            return "text";
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoListeners {
        @Bean
        @Leader("x")
        LeadershipListener one() {
            return term -> {};
        }

        @Bean
        @Leader("x")
        LeadershipListener two() {
            return term -> {};
        }
    }

    static class FinalClass {
        static final class Bean {
            @Leader("x")
            public void method() {}
        }
    }

    static List<Object[]> refused() {
        return List.of(
                refused(Nameless.class, "Nameless.method()", "it has no name", "@Leader(\"billing\"), for example"),
                refused(Expression.class, "Expression.method()", "no expression is evaluated", "a fixed name"),
                refused(Parameter.class, "Parameter.method(int)", "no expression is evaluated", "has @Locked"),
                refused(Placeholder.class, "Placeholder.method()", "${no.such.name}", "a property that is set"),
                refused(TooLong.class, "TooLong.method()", "at most", "a shorter name"),
                refused(Primitive.class, "Primitive.method()", "it returns int", "can be null or empty"),
                refused(OpenEnd.class, "OpenEnd.method()", "the end of the work behind", "Mono or Flux"),
                refused(OpenFuture.class, "OpenFuture.method()", "the end of the work behind", "Mono or Flux"),
                refused(TwoTerms.class, "TwoTerms.method(Term, Term)", "two parameters for the term", "one"),
                refused(Final.class, "Final.method()", "it would run on every node", "a subclass can override"),
                refused(Private.class, "Private.method()", "it would run on every node", "a subclass can override"),
                refused(AtItsEnd.class, "AtItsEnd.destroy()", "it would run on every node", "a method that is called"),
                refused(FinalClass.Bean.class, "bean \"", "its class is final", "a class that is not final"),
                refused(
                        UnknownClient.class,
                        "UnknownClient.method()",
                        "no LockClient with the name",
                        "client = one of"),
                refused(NoListener.class, "bean \"", "it is no LeadershipListener", "@Leader on its methods"),
                refused(NoListenerBean.class, "bean \"bean\"", "it is no LeadershipListener", "@Leader on its methods"),
                refused(TwoListeners.class, "bean \"two\"", "another bean is a LeadershipListener", "one listener"));
    }

    private static Object[] refused(Class<?> type, String... parts) {
        return new Object[] {type, parts};
    }

    @ParameterizedTest
    @MethodSource("refused")
    void is_refused(Class<?> type, String[] parts) {
        Contexts.memory("leader-start").withUserConfiguration(type).run(context -> {
            Throwable root = root(context);
            assertThat(root).hasMessageStartingWith("@Leader on ").hasMessageContainingAll(parts);
            FailureAnalysis analysis = new LockedFailureAnalyzer().analyze(root);
            assertThat(analysis.getDescription()).startsWith("@Leader on ").contains(parts[0], parts[1]);
            assertThat(analysis.getAction()).startsWith("Expected: ");
        });
    }

    private static Throwable root(AssertableApplicationContext context) {
        assertThat(context).hasFailed();
        Throwable failure = context.getStartupFailure();
        while (failure.getCause() != null && !(failure instanceof LockedDefinitionException)) {
            failure = failure.getCause();
        }
        return failure;
    }

    static class Fine {
        @Leader("x")
        public void method() {}
    }

    @Test
    void a_time_to_stop_that_is_too_long_is_refused() {
        Contexts.memory("leader-start")
                .withBean(Fine.class)
                .withPropertyValues("holdfast.lease-time=6s", "holdfast.leader.stop-within=3s")
                .run(context -> assertThat(root(context))
                        .hasMessageContaining("stopWithin: 3 s (expected: at most 2 s, a third of the client's lease"));
        Contexts.memory("leader-start")
                .withPropertyValues("holdfast.leader.stop-within=-1s")
                .run(context -> assertThat(root(context)).hasMessageContaining("stopWithin: -1 s"));
    }

    @Test
    void without_a_client_it_is_refused() {
        Contexts.memory("leader-start")
                .withPropertyValues("holdfast.enabled=false")
                .withBean(Fine.class)
                .run(context -> assertThat(root(context))
                        .hasMessageStartingWith("@Leader on ")
                        .hasMessageContainingAll("Fine.method()", "there is no LockClient bean"));
    }
}
