package io.holdfast.cdi;

import static io.holdfast.cdi.LockedTest.held;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Stereotype;
import jakarta.enterprise.inject.se.SeContainer;
import jakarta.inject.Inject;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which methods Weld intercepts: docs/cdi.md says it in a table. */
class ContainerTest {

    static class Parent {

        @Inject
        LockClient client;

        @Locked("inherited")
        List<String> inherited() {
            return held(client);
        }

        @Locked("overridden")
        List<String> overridden() {
            return held(client);
        }
    }

    @ApplicationScoped
    static class Child extends Parent {

        @Override
        List<String> overridden() {
            return held(client);
        }

        @Locked("own")
        List<String> own() {
            return held(client);
        }

        List<String> callsItself() {
            return own();
        }
    }

    @Stereotype
    @Locked("job")
    @ApplicationScoped
    @Retention(RetentionPolicy.RUNTIME)
    @interface Job {}

    @Job
    static class Nightly {

        @Inject
        LockClient client;

        List<String> run() {
            return held(client);
        }

        @Locked("other")
        List<String> other() {
            return held(client);
        }
    }

    @Test
    void what_is_intercepted() {
        try (SeContainer container = Containers.start("memory:container", Child.class, Nightly.class)) {
            Child child = container.select(Child.class).get();
            assertThat(child.own()).containsExactly("own");
            assertThat(child.inherited()).containsExactly("inherited");
            assertThat(child.overridden()).isEmpty();
            assertThat(child.callsItself()).isEmpty();
            Nightly nightly = container.select(Nightly.class).get();
            assertThat(nightly.run()).containsExactly("job");
            assertThat(nightly.other()).containsExactly("other");
        }
    }
}
