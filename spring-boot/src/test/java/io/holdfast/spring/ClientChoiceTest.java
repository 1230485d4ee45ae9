package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.LockClientClosedException;
import io.holdfast.spring.boot.Contexts;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;

/** With several clients, the primary one is meant, or the one that is named. */
class ClientChoiceTest {

    public static class Work {

        private final List<LockClient> clients;

        Work(List<LockClient> clients) {
            this.clients = clients;
        }

        /** Whether each of them holds something. */
        private List<Boolean> held() {
            return clients.stream()
                    .map(client -> !client.localLocks().isEmpty())
                    .toList();
        }

        @Locked("x")
        public List<Boolean> primary() {
            return held();
        }

        @Locked(name = "x", client = "second")
        public List<Boolean> byName() {
            return held();
        }

        @Locked(name = "x", client = "${which:archive}")
        public List<Boolean> byQualifier() {
            return held();
        }

        @Locked("x")
        public List<Boolean> nested(Work self) {
            // The same name at another client is another lock.
            return self.byName();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Application {

        @Bean
        @Primary
        LockClient first() {
            return LockClient.connect("memory:first");
        }

        @Bean
        LockClient second() {
            return LockClient.connect("memory:second");
        }

        @Bean
        @Qualifier("archive")
        LockClient third() {
            return LockClient.connect("memory:third");
        }

        @Bean
        Work work(LockClient first, @Qualifier("second") LockClient second, @Qualifier("archive") LockClient third) {
            return new Work(List.of(first, second, third));
        }
    }

    /** A second client beside the one of the application's Redis, which goes on to be everybody's. */
    @Configuration(proxyBeanMethods = false)
    static class OneMore {

        @Bean(defaultCandidate = false)
        @Qualifier("second")
        LockClient more() {
            return LockClient.connect("memory:more");
        }

        @Bean
        Work work(LockClient first, @Qualifier("second") LockClient second) {
            return new Work(List.of(first, second));
        }
    }

    @Test
    void a_client_that_is_no_default_candidate_stands_beside_the_configured_one() {
        var application = Contexts.memory("configured").withPropertyValues("which=second");
        application.withUserConfiguration(OneMore.class).run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(context.getBeansOfType(LockClient.class)).containsOnlyKeys("holdfastLockClient", "more");
            Work work = context.getBean(Work.class);
            assertThat(work.primary()).containsExactly(true, false);
            assertThat(work.byName()).containsExactly(false, true);

            // And it is closed like the other, before connections are.
            LockClient more = context.getBean("more", LockClient.class);
            context.stop();
            assertThatThrownBy(() -> more.tryAcquire("x")).isInstanceOf(LockClientClosedException.class);
        });
    }

    @Test
    void the_primary_client_or_the_one_of_a_name_or_qualifier() {
        Contexts.memory("unused").withUserConfiguration(Application.class).run(context -> {
            assertThat(context).hasNotFailed();
            Work work = context.getBean(Work.class);
            assertThat(work.primary()).containsExactly(true, false, false);
            assertThat(work.byName()).containsExactly(false, true, false);
            assertThat(work.byQualifier()).containsExactly(false, false, true);
            assertThat(work.nested(work)).containsExactly(true, true, false);
        });
    }

    public static class Child {

        private final LockClient client;

        Child(LockClient client) {
            this.client = client;
        }

        @Locked("x")
        public boolean holds() {
            return !client.localLocks().isEmpty();
        }
    }

    @Test
    void the_client_of_a_parent_context_is_that_of_its_children() {
        Contexts.memory("parent").run(parent -> {
            Contexts.memory("child").withParent(parent).withBean(Child.class).run(context -> {
                assertThat(context).hasNotFailed();
                assertThat(context.getBean(Child.class).holds()).isTrue();
            });
            // Closed by its own context.
            parent.getBean(LockClient.class).acquire("x").release();
        });
    }
}
