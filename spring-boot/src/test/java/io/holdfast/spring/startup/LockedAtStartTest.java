package io.holdfast.spring.startup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.spring.LockKey;
import io.holdfast.spring.Locked;
import io.holdfast.spring.LogLines;
import io.holdfast.spring.OnBusy;
import io.holdfast.spring.OnLost;
import io.holdfast.spring.boot.Contexts;
import io.holdfast.spring.declaration.LockedDefinitionException;
import io.reactivex.rxjava3.core.Single;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** A method that cannot be locked fails the start: no fault waits for its first call, and nothing runs unlocked. */
public class LockedAtStartTest {

    @SuppressWarnings("UnusedMethod")
    static class Private {
        @Locked("x")
        private void method() {}
    }

    /** Its method does not override the private one. */
    static class PrivateInherited extends Private {
        public void method() {}
    }

    static class Final {
        @Locked("x")
        public final void method() {}
    }

    static class Static {
        @Locked("x")
        public static void method() {}
    }

    @Locked("x")
    static class FinalByClass {
        public void fine() {}

        public final void method() {}
    }

    static class Hidden extends Contexts.OfAnotherPackage {}

    static class AtItsMaking {
        @jakarta.annotation.PostConstruct
        @Locked("x")
        public void method() {
            throw new AssertionError("unlocked");
        }
    }

    static class AtItsEnd implements org.springframework.beans.factory.DisposableBean {
        @Override
        @Locked("x")
        public void destroy() {}
    }

    static class AtItsClose implements AutoCloseable {
        @Override
        @Locked("x")
        public void close() {}
    }

    static class NotLocked {
        @jakarta.annotation.PostConstruct
        public void method() {}
    }

    static class OfNotLocked extends NotLocked {
        @Override
        @Locked("x")
        public void method() {
            throw new AssertionError("unlocked");
        }
    }

    static class AtItsMakingOfOld {
        @javax.annotation.PostConstruct
        @Locked("x")
        public void method() {
            throw new AssertionError("unlocked");
        }
    }

    static class LockedFallback {
        @Locked(name = "x", fallback = "other")
        public void method() {}

        @Locked("y")
        public void other() {}
    }

    static class OwnFallback {
        @Locked(name = "x", fallback = "method")
        public void method() {}
    }

    static class Nameless {
        @Locked
        public void method() {}
    }

    static class PrimitiveSkip {
        @Locked(name = "x", onBusy = OnBusy.SKIP)
        public boolean method() {
            return true;
        }
    }

    static class BadExpression {
        @Locked(name = "x", key = "#id +")
        public void method(int id) {}
    }

    static class UnknownParameter {
        @Locked(name = "x", key = "#order.id")
        public void method(int id) {}
    }

    static class UnknownIndex {
        @Locked(name = "x", key = "#p1")
        public void method(int id) {}
    }

    static class BadDuration {
        @Locked(name = "x", waitTime = "10")
        public void method() {}
    }

    static class WordForDuration {
        @Locked(name = "x", leaseTime = "soon")
        public void method() {}
    }

    static class ShortLease {
        @Locked(name = "x", leaseTime = "1ms")
        public void method() {}
    }

    static class BothLengths {
        @Locked(name = "x", leaseTime = "1s", holdAtMost = "2s")
        public void method() {}
    }

    static class LongerThanLease {
        @Locked(name = "x", leaseTime = "1s", holdAtLeast = "2s")
        public void method() {}
    }

    static class NoFallback {
        @Locked(name = "x", fallback = "elsewhere")
        public void method() {}
    }

    static class OtherFallback {
        @Locked(name = "x", fallback = "other")
        public String method() {
            return "";
        }

        Integer other() {
            return 1;
        }
    }

    static class InterruptStage {
        @Locked(name = "x", onLost = OnLost.INTERRUPT)
        public CompletableFuture<String> method() {
            return new CompletableFuture<>();
        }
    }

    static class UnknownWork {
        @Locked("x")
        public Future<String> method() {
            return new CompletableFuture<>();
        }
    }

    static class RxWork {
        @Locked("x")
        public Single<String> method() {
            return Single.just("later");
        }
    }

    static class ControllersWork {
        @Locked("x")
        public Callable<String> method() {
            return () -> "later";
        }
    }

    static class OneLeaseForTwo {
        @Locked(
                name = "x",
                key = {"#a", "#b"})
        public void method(int a, int b, Lease lease) {}
    }

    static class Disagreeing {
        @Locked(name = "x", waitTime = "1s")
        @Locked(name = "y", waitTime = "2s")
        public void method() {}
    }

    static class KeyTwice {
        @Locked(name = "x", key = "#id")
        public void method(@LockKey int id) {}
    }

    static class NoSuchClient {
        @Locked(name = "x", client = "elsewhere")
        public void method() {}
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            Private          | a private method cannot be intercepted
            PrivateInherited | a private method cannot be intercepted
            Final            | a final method cannot be intercepted
            Static           | a static method cannot be intercepted
            Hidden           | a package-private inherited method cannot be intercepted
            FinalByClass     | a final method cannot be intercepted
            AtItsMaking      | the container calls it on the object itself
            OfNotLocked      | the container calls it on the object itself
            AtItsMakingOfOld | the container calls it on the object itself
            AtItsEnd         | the container calls it on the object itself
            AtItsClose       | the container calls it on the object itself
            LockedFallback   | fallback "other" is locked itself
            OwnFallback      | fallback "method" is locked itself
            Nameless         | it has no name
            PrimitiveSkip    | returns boolean
            BadExpression    | does not parse
            UnknownParameter | there is no parameter "order"
            UnknownIndex     | there is no parameter "p1"
            BadDuration      | waitTime: "10"
            WordForDuration  | leaseTime: "soon"
            ShortLease       | at least 100 ms
            BothLengths      | holdAtMost
            LongerThanLease  | longer than leaseTime
            NoFallback       | fallback "elsewhere" does not exist
            OtherFallback    | fallback "other" returns another type
            InterruptStage   | no thread of its own
            UnknownWork      | java.util.concurrent.Future
            RxWork           | the work behind a io.reactivex.rxjava3.core.Single
            ControllersWork  | the work behind a java.util.concurrent.Callable
            OneLeaseForTwo   | MultiLease
            Disagreeing      | differ in more than
            KeyTwice         | both key and @LockKey
            NoSuchClient     | no LockClient with the name or qualifier "elsewhere"
            """)
    void stops_the_start(String type, String message) throws ClassNotFoundException {
        Class<?> bean = Class.forName(LockedAtStartTest.class.getName() + "$" + type);
        Contexts.memory("start").withBean(bean).run(context -> {
            assertThat(context).hasFailed();
            Throwable cause = rootOf(context.getStartupFailure());
            assertThat(cause)
                    .isInstanceOf(LockedDefinitionException.class)
                    .hasMessageContaining("@Locked on ")
                    .hasMessageContaining(
                            (bean.getSuperclass() == Object.class ? bean : bean.getSuperclass()).getSimpleName())
                    .hasMessageContaining(message)
                    .hasMessageContaining("(expected: ");
            FailureAnalysis analysis = new LockedFailureAnalyzer().analyze(context.getStartupFailure());
            assertThat(analysis.getDescription())
                    .contains(message.contains("MultiLease") ? "several locks" : "@Locked on");
            // In its own letters: the way out may begin with the name of a setting.
            assertThat(analysis.getAction()).startsWith("Expected: ").hasSizeGreaterThan(15);
            assertThat(cause)
                    .hasMessageContaining(analysis.getAction()
                            .substring(
                                    "Expected: ".length(), analysis.getAction().length() - 1));
        });
    }

    @Test
    void without_a_client_a_locked_method_does_not_start_instead_of_running_unlocked() {
        Contexts.memory("off")
                .withPropertyValues("holdfast.enabled=false")
                .withBean(Fine.class)
                .run(context -> {
                    assertThat(rootOf(context.getStartupFailure()))
                            .isInstanceOf(LockedDefinitionException.class)
                            .hasMessageContaining("there is no LockClient bean");
                    assertThat(new LockedFailureAnalyzer()
                                    .analyze(context.getStartupFailure())
                                    .getAction())
                            .startsWith("Expected: holdfast.enabled not false");
                });
        Contexts.memory("off")
                .withPropertyValues("holdfast.enabled=false")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(LockClient.class));
    }

    static class Fine {
        @Locked("x")
        public void method() {}
    }

    @Configuration(proxyBeanMethods = false)
    static class TooEarly {

        @Bean
        static Fine fine() {
            return new Fine();
        }

        /** Made with the post-processors, and its dependencies with it. */
        @Bean
        static EarlyProcessor early(Fine fine) {
            return new EarlyProcessor();
        }
    }

    /** Ordered before ours. */
    static class EarlyProcessor implements BeanPostProcessor, org.springframework.core.PriorityOrdered {
        @Override
        public int getOrder() {
            return 0;
        }
    }

    @Test
    void a_bean_that_was_made_too_early_to_be_intercepted_stops_the_start() {
        for (Class<?> configuration : List.of(TooEarly.class, TooSoon.class)) {
            Contexts.memory("early")
                    .withUserConfiguration(configuration)
                    .run(context -> assertThat(rootOf(context.getStartupFailure()))
                            .isInstanceOf(LockedDefinitionException.class)
                            .hasMessageContaining("too early")
                            .hasMessageContaining("\"fine\""));
        }
    }

    static class Pool {
        @Locked("x")
        public void shutdown() {}
    }

    static class HiddenPool {
        @Locked("x")
        void close() {}

        @Locked("x")
        protected void shutdown() {}
    }

    @Configuration(proxyBeanMethods = false)
    static class Inferred {
        @Bean
        Pool pool() {
            return new Pool();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class NotInferred {
        @Bean(destroyMethod = "")
        Pool pool() {
            return new Pool();
        }

        @Bean(destroyMethod = "")
        AtItsClose closeable() {
            return new AtItsClose();
        }

        /** Only public ones are looked for. */
        @Bean
        HiddenPool hidden() {
            return new HiddenPool();
        }
    }

    @Test
    void a_locked_method_that_the_container_calls_of_itself_at_the_end_stops_the_start() {
        Contexts.memory("inferred")
                .withUserConfiguration(Inferred.class)
                .run(context -> assertThat(rootOf(context.getStartupFailure()))
                        .isInstanceOf(LockedDefinitionException.class)
                        .hasMessageContaining("the container calls it"));
        Contexts.memory("inferred")
                .withUserConfiguration(NotInferred.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Configuration(proxyBeanMethods = false)
    static class TooSoon {

        @Bean
        static Fine fine() {
            return new Fine();
        }

        /** Made before there are any post-processors of beans. */
        @Bean
        static SoonProcessor soon(Fine fine) {
            return new SoonProcessor();
        }
    }

    static class SoonProcessor extends EarlyProcessor implements BeanDefinitionRegistryPostProcessor {
        @Override
        public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {}
    }

    @Locked("x")
    static class InitializedClass implements org.springframework.beans.factory.InitializingBean {
        @Override
        public void afterPropertiesSet() {}
    }

    @Test
    void a_class_is_locked_for_those_who_call_it_and_not_for_its_initialization() {
        Contexts.memory("initialized")
                .withBean(InitializedClass.class)
                .run(context -> assertThat(context).hasNotFailed());
    }

    /** What {@code @MockitoBean} and {@code @TestBean} do. */
    @Test
    void a_bean_that_a_test_has_replaced_does_not_stop_the_start() {
        Fine instead = new Fine();
        Contexts.memory("replaced")
                .withBean("fine", Fine.class)
                .withInitializer(context ->
                        context.addBeanFactoryPostProcessor(beans -> beans.registerSingleton("fine", instead)))
                .run(context ->
                        assertThat(context).hasNotFailed().getBean("fine").isSameAs(instead));
    }

    public interface Known {
        @Locked("known")
        String known();
    }

    static class ByInterface implements Known {
        @Override
        public String known() {
            return "known";
        }
    }

    static class MoreThanTheInterface extends ByInterface {
        @Locked("more")
        public void more() {}
    }

    @Test
    void a_proxy_of_interfaces_locks_their_methods() {
        var interfaces = Contexts.memory("interfaces").withPropertyValues("spring.aop.proxy-target-class=false");
        interfaces.withBean(ByInterface.class).run(context -> {
            Known bean = context.getBean(Known.class);
            assertThat(java.lang.reflect.Proxy.isProxyClass(bean.getClass())).isTrue();
            try (LockClient other = LockClient.connect("memory:interfaces");
                    Lease held = other.tryAcquire("known").orElseThrow()) {
                Thread.currentThread().interrupt();
                assertThatThrownBy(bean::known).isInstanceOf(CancellationException.class);
                assertThat(Thread.interrupted()).isTrue();
                assertThat(held.isValid()).isTrue();
            }
            assertThat(bean.known()).isEqualTo("known");
        });
    }

    /** No caller can reach it, so none runs it unlocked. */
    @Test
    void a_locked_method_that_the_proxy_does_not_have_is_one_warning() {
        try (LogLines log = new LogLines(LockedBeanPostProcessor.class)) {
            Contexts.memory("interfaces")
                    .withPropertyValues("spring.aop.proxy-target-class=false")
                    .withBean("bean", MoreThanTheInterface.class)
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        assertThat(context.getBean(Known.class).known()).isEqualTo("known");
                        assertThat(context).doesNotHaveBean(MoreThanTheInterface.class);
                    });
            assertThat(log.lines())
                    .singleElement()
                    .asString()
                    .contains("MoreThanTheInterface.more()", "\"bean\"", "none of them has this method")
                    .contains("spring.aop.proxy-target-class=true");
        }
    }

    /** Compiled here, without {@code -parameters}. */
    @Test
    void a_key_by_name_needs_the_names_in_the_class_file(@TempDir Path dir) throws Exception {
        compiled(dir, "ByName", "key = \"#id\"", "")
                .run(context -> assertThat(rootOf(context.getStartupFailure()))
                        .isInstanceOf(LockedDefinitionException.class)
                        .hasMessageContaining("the class file has no names of parameters")
                        .hasMessageContaining("-parameters"));
        compiled(dir, "ByIndex", "key = \"#p0\"", "")
                .run(context -> assertThat(context).hasNotFailed());
        compiled(dir, "Marked", "waitTime = \"1s\"", "@io.holdfast.spring.LockKey ")
                .run(context -> assertThat(context).hasNotFailed());
    }

    private static ApplicationContextRunner compiled(Path dir, String name, String attributes, String mark)
            throws Exception {
        Path source = Files.writeString(
                dir.resolve(name + ".java"),
                "public class " + name + " { @io.holdfast.spring.Locked(name = \"x\", " + attributes
                        + ") public void method(" + mark + "int id) {} }");
        int failed = ToolProvider.getSystemJavaCompiler()
                .run(
                        null,
                        null,
                        null,
                        "-proc:none",
                        "-d",
                        dir.toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        source.toString());
        assertThat(failed).isZero();
        ClassLoader loader =
                new URLClassLoader(new URL[] {dir.toUri().toURL()}, LockedAtStartTest.class.getClassLoader());
        return Contexts.memory("names").withClassLoader(loader).withBean(Class.forName(name, false, loader));
    }

    private static Throwable rootOf(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root;
    }
}
