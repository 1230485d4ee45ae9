package io.holdfast.samples.quarkus;

import io.holdfast.LocalLock;
import io.holdfast.LockClient;
import io.holdfast.cdi.Locked;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.event.Startup;
import jakarta.enterprise.inject.Stereotype;
import jakarta.inject.Inject;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.List;
import java.util.Set;

/** Prints which methods Quarkus intercepts: docs/cdi.md says it in a table. ContainerTest of holdfast-cdi asks Weld. */
@ApplicationScoped
public class Intercepted {

    private static final Set<String> LOCKS = Set.of("inherited", "overridden", "own", "job");

    public static class Parent {

        @Inject
        LockClient client;

        List<String> held() {
            return client.localLocks().stream()
                    .filter(lock -> lock.lease().isPresent())
                    .map(LocalLock::name)
                    // Where the start takes long, the jobs of the application run already.
                    .filter(LOCKS::contains)
                    .toList();
        }

        @Locked("inherited")
        List<String> inherited() {
            return held();
        }

        @Locked("overridden")
        List<String> overridden() {
            return held();
        }
    }

    @ApplicationScoped
    public static class Child extends Parent {

        @Override
        List<String> overridden() {
            return held();
        }

        @Locked("own")
        List<String> own() {
            return held();
        }

        List<String> callsItself() {
            return own();
        }
    }

    @Stereotype
    @Locked("job")
    @ApplicationScoped
    @Retention(RetentionPolicy.RUNTIME)
    public @interface Job {}

    @Job
    public static class Nightly extends Parent {

        List<String> run() {
            return held();
        }
    }

    void start(@Observes Startup event, Child child, Nightly nightly) {
        System.out.println("intercepted: inherited " + child.inherited() + ", overridden " + child.overridden()
                + ", itself " + child.callsItself() + ", stereotype " + nightly.run());
    }
}
