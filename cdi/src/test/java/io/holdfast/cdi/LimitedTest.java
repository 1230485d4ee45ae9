package io.holdfast.cdi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockTimeoutException;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.se.SeContainer;
import jakarta.inject.Inject;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;

/** Methods that run under a permit. */
class LimitedTest {

    @ApplicationScoped
    static class Work {

        @Inject
        LockClient client;

        @Inject
        Inner inner;

        @Limited(name = "export", permits = "2", waitTime = "0", key = "{0}")
        int export(String site) {
            return client.permits("export:" + site, 2).inspect().used();
        }

        @Limited(name = "export", permits = "2", weight = "2", waitTime = "0", key = "{0}")
        int both(String site) {
            return inner.export(site);
        }

        @Limited(name = "export", permits = "2", waitTime = "0", key = "{0}")
        int tooLittle(String site) {
            return inner.both(site);
        }

        @Limited(name = "export", permits = "2", waitTime = "0")
        @Locked(name = "export", waitTime = "0")
        boolean lockIsOutside(Lease lease) {
            return lease.isExclusive();
        }
    }

    @ApplicationScoped
    static class Inner {

        @Limited(name = "export", permits = "2", waitTime = "0", key = "{0}")
        int export(String site) {
            return 1;
        }

        @Limited(name = "export", permits = "2", weight = "2", waitTime = "0", key = "{0}")
        int both(String site) {
            return 2;
        }
    }

    @Test
    void at_most_so_many_callers_run_at_a_time() {
        run((work, other) -> {
            assertThat(work.export("de")).isEqualTo(1);
            try (Lease one = other.permits("export:de", 2).tryAcquire().orElseThrow()) {
                assertThat(work.export("de")).isEqualTo(2);
                try (Lease two = other.permits("export:de", 2).tryAcquire().orElseThrow()) {
                    assertThatThrownBy(() -> work.export("de")).isInstanceOf(LockTimeoutException.class);
                    assertThat(work.export("at")).isEqualTo(1);
                    assertThat(one.isValid() && two.isValid()).isTrue();
                }
            }
        });
    }

    @Test
    void a_nested_call_runs_under_the_permits_of_its_caller_and_may_not_want_more() {
        run((work, other) -> {
            assertThat(work.both("de")).isEqualTo(1);
            assertThatThrownBy(() -> work.tooLittle("de"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("a nested call wants 2 permits, and its caller holds 1 (expected: at most");
        });
    }

    @Test
    void with_a_lock_on_the_same_method_the_lock_is_outside() {
        run((work, other) -> {
            assertThat(work.lockIsOutside(null)).isTrue();
            try (Lease lock = other.tryAcquire("export").orElseThrow()) {
                assertThatThrownBy(() -> work.lockIsOutside(null))
                        .isInstanceOf(LockTimeoutException.class)
                        .hasMessageNotContaining("permits");
                assertThat(lock.isValid()).isTrue();
            }
        });
    }

    private static void run(BiConsumer<Work, LockClient> test) {
        try (SeContainer container = Containers.start("memory:limited", Work.class, Inner.class);
                LockClient other = LockClient.connect("memory:limited")) {
            test.accept(container.select(Work.class).get(), other);
            assertThat(container.select(LockClient.class).get().localLocks()).isEmpty();
        }
    }
}
