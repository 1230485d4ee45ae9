package io.holdfast.spring.startup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LocalLock;
import io.holdfast.LockClient;
import io.holdfast.spring.Locked;
import io.holdfast.spring.boot.Contexts;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Locked methods that are called by another signature than their own: the compiler's bridges lead there. */
public class LockedHierarchyTest {

    public record Order(long id) {}

    public interface Handler<T> {
        Object handle(T it);

        Object all();
    }

    public static class ByMethod implements Handler<Order> {

        private final LockClient client;

        ByMethod(LockClient client) {
            this.client = client;
        }

        @Override
        @Locked(name = "order", key = "#it.id")
        public List<String> handle(Order it) {
            return held(client);
        }

        @Override
        @Locked("all")
        public List<String> all() {
            return held(client);
        }
    }

    public interface LockedHandler<T> extends Handler<T> {
        @Override
        @Locked(name = "order", key = "#it.id")
        Object handle(T it);

        @Override
        @Locked("all")
        Object all();
    }

    public static class ByInterface implements LockedHandler<Order> {

        private final LockClient client;

        ByInterface(LockClient client) {
            this.client = client;
        }

        @Override
        public List<String> handle(Order it) {
            return held(client);
        }

        @Override
        public List<String> all() {
            return held(client);
        }
    }

    abstract static class Hidden implements Handler<Order> {

        private final LockClient client;

        Hidden(LockClient client) {
            this.client = client;
        }

        @Override
        @Locked(name = "order", key = "#it.id")
        public List<String> handle(Order it) {
            return held(client);
        }

        @Override
        @Locked("all")
        public List<String> all() {
            return held(client);
        }
    }

    /** Its bridges are there since the methods of a class that is not public would not be. */
    public static class OfHidden extends Hidden {
        OfHidden(LockClient client) {
            super(client);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"true", "false"})
    @SuppressWarnings("unchecked")
    void a_call_by_a_bridge_is_locked(String classes) {
        for (Class<?> type : List.of(ByMethod.class, ByInterface.class, OfHidden.class)) {
            Contexts.memory("bridges")
                    .withPropertyValues("spring.aop.proxy-target-class=" + classes)
                    .withBean("handler", type)
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        Handler<Order> handler = (Handler<Order>) context.getBean("handler");
                        assertThat(handler.handle(new Order(7)))
                                .as(type.getName())
                                .isEqualTo(List.of("order:7"));
                        assertThat(handler.all()).as(type.getName()).isEqualTo(List.of("all"));
                    });
        }
    }

    @Test
    void a_call_of_what_a_hidden_class_declares_is_locked() {
        Contexts.memory("hidden").withBean(OfHidden.class).run(context -> {
            OfHidden bean = context.getBean(OfHidden.class);
            assertThat(bean.handle(new Order(7))).containsExactly("order:7");
            assertThat(bean.all()).containsExactly("all");
        });
    }

    public static class WithPrimitive {

        private final LockClient client;

        WithPrimitive(LockClient client) {
            this.client = client;
        }

        @Locked("refund")
        public List<String> refund(long id) {
            return held(client);
        }
    }

    /** Its method is another one, and no override. */
    public static class WithObject extends WithPrimitive {

        WithObject(LockClient client) {
            super(client);
        }

        public List<String> refund(Long id) {
            return List.of("unlocked " + id);
        }
    }

    /** The container makes a subclass of it. */
    @Configuration
    public static class OfConfiguration extends WithObject {

        OfConfiguration(LockClient client) {
            super(client);
        }
    }

    @Test
    void an_inherited_method_stays_locked_beside_one_that_is_like_it() {
        for (Class<? extends WithObject> type : List.of(WithObject.class, OfConfiguration.class)) {
            Contexts.memory("inherited").withUserConfiguration(type).run(context -> {
                WithObject bean = context.getBean(WithObject.class);
                assertThat(bean.refund(7L)).as(type.getName()).containsExactly("refund");
                assertThat(bean.refund(Long.valueOf(7))).as(type.getName()).containsExactly("unlocked 7");
            });
        }
    }

    abstract static class Template<R> {

        @Locked("template")
        public R work() {
            return make();
        }

        @Locked("template")
        public Object any() {
            return make();
        }

        abstract R make();
    }

    public static class OfStage extends Template<CompletableFuture<String>> {

        final CompletableFuture<String> stage = new CompletableFuture<>();

        @Override
        CompletableFuture<String> make() {
            return stage;
        }

        public void end() {
            stage.complete("done");
        }
    }

    public static class OfFuture extends Template<Future<String>> {
        @Override
        Future<String> make() {
            return new CompletableFuture<>();
        }
    }

    @Test
    void a_type_variable_is_what_it_stands_for() {
        Contexts.memory("variable").withBean(OfStage.class).run(context -> {
            OfStage bean = context.getBean(OfStage.class);
            LockClient client = context.getBean(LockClient.class);
            CompletableFuture<String> work = bean.work();
            await().until(() -> held(client).equals(List.of("template")));
            assertThat(work).isNotDone();
            bean.end();
            assertThat(work.get(10, TimeUnit.SECONDS)).isEqualTo("done");
            assertThat(held(client)).isEmpty();
        });
        Contexts.memory("variable")
                .withBean(OfFuture.class)
                .run(context -> assertThat(context).getFailure().rootCause().hasMessageContaining("Future"));
    }

    public static class OfDoneStage extends Template<CompletionStage<String>> {
        @Override
        CompletionStage<String> make() {
            return CompletableFuture.completedFuture("done").minimalCompletionStage();
        }
    }

    @Test
    void a_stage_behind_any_object_that_is_complete_is_done() {
        Contexts.memory("done")
                .withBean(OfDoneStage.class)
                .run(context ->
                        assertThat(context.getBean(OfDoneStage.class).any()).isInstanceOf(CompletionStage.class));
    }

    @Test
    void work_that_goes_on_behind_any_object_is_an_error() {
        Contexts.memory("any").withBean(OfStage.class).run(context -> {
            OfStage bean = context.getBean(OfStage.class);
            assertThatThrownBy(bean::any)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("goes on without the lock");
            bean.end();
            assertThat(bean.any()).isInstanceOf(CompletableFuture.class);
        });
    }

    /** As a repository of Spring Data: the methods of all are in a class that does not know the interface. */
    interface Repository extends Handler<Order> {
        @Override
        @Locked(name = "order", key = "#p0.id")
        Object handle(Order it);
    }

    public static class General {

        private final LockClient client;

        General(LockClient client) {
            this.client = client;
        }

        public Object handle(Order it) {
            return held(client);
        }
    }

    interface Remote {
        @Locked(name = "remote", waitTime = "0", fallback = "instead")
        Object call();

        Object instead();
    }

    @Locked(name = "whole", key = "#p0")
    interface Whole {
        Object call(long id);
    }

    @Configuration(proxyBeanMethods = false)
    static class Proxies {

        @Bean
        Whole whole(LockClient client) {
            return ProxyFactory.getProxy(Whole.class, (MethodInterceptor) call -> held(client));
        }

        /** As a Feign client, or a mapper of MyBatis. */
        @Bean
        Repository plain(LockClient client) {
            return (Repository) Proxy.newProxyInstance(
                    Repository.class.getClassLoader(),
                    new Class<?>[] {Repository.class},
                    (proxy, method, args) -> method.getName().equals("hashCode") ? 1 : held(client));
        }

        @Bean
        Repository general(LockClient client) {
            General target = new General(client);
            ProxyFactory factory = new ProxyFactory();
            factory.setTarget(target);
            factory.setInterfaces(Repository.class);
            factory.addAdvice((MethodInterceptor) call -> target.handle((Order) call.getArguments()[0]));
            return (Repository) factory.getProxy();
        }

        /** As a client by {@code @HttpExchange}. */
        @Bean
        Repository targetless(LockClient client) {
            return ProxyFactory.getProxy(Repository.class, (MethodInterceptor) call -> held(client));
        }

        @Bean
        Remote remote() {
            return ProxyFactory.getProxy(
                    Remote.class, (MethodInterceptor) call -> call.getMethod().getName());
        }
    }

    @Test
    void interfaces_that_a_library_implements_are_locked() {
        Contexts.memory("proxies").withUserConfiguration(Proxies.class).run(context -> {
            assertThat(context).hasNotFailed();
            for (String name : List.of("plain", "general", "targetless")) {
                Repository bean = context.getBean(name, Repository.class);
                assertThat(bean.handle(new Order(7))).as(name).isEqualTo(List.of("order:7"));
                assertThat(((Handler<Order>) bean).handle(new Order(8)))
                        .as(name)
                        .isEqualTo(List.of("order:8"));
            }
            assertThat(context.getBean(Whole.class).call(7)).isEqualTo(List.of("whole:7"));
            Remote remote = context.getBean(Remote.class);
            assertThat(remote.call()).isEqualTo("call");
            try (LockClient other = LockClient.connect("memory:proxies");
                    Lease held = other.acquire("remote")) {
                assertThat(remote.call()).isEqualTo("instead");
                assertThat(held.isValid()).isTrue();
            }
        });
    }

    private static List<String> held(LockClient client) {
        return client.localLocks().stream().map(LocalLock::name).toList();
    }
}
