package io.holdfast.spring.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockTimeoutException;
import io.holdfast.spring.Leader;
import io.holdfast.spring.Limited;
import io.holdfast.spring.Locked;
import io.holdfast.spring.boot.HoldfastAutoConfiguration;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;

/** What a user writes: no server, no settings. */
@ExtendWith(OutputCaptureExtension.class)
class LockTesterTest {

    static class Refunds {

        private final LockTester locks;

        Refunds(LockTester locks) {
            this.locks = locks;
        }

        @Locked(name = "order.refund", key = "#orderId", waitTime = "0")
        public void refund(long orderId, boolean lose) {
            locks.assertHeldHere("order.refund:" + orderId);
            if (lose) {
                locks.lose("order.refund:" + orderId);
            }
        }

        @Limited(name = "export", permits = "3", waitTime = "0")
        public void export() {}

        @Locked(name = "fixed", leaseTime = "1m")
        public void fixed() {
            locks.lose("fixed");
        }
    }

    private final ApplicationContextRunner empty = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    HoldfastTestAutoConfiguration.class,
                    HoldfastLockTesterAutoConfiguration.class,
                    HoldfastAutoConfiguration.class));

    private final ApplicationContextRunner application = empty.withBean(Refunds.class);

    @Test
    void shows_holds_and_loses_locks() {
        application.run(context -> {
            LockTester locks = context.getBean(LockTester.class);
            Refunds refunds = context.getBean(Refunds.class);
            refunds.refund(1, false);
            locks.assertFree("order.refund:1");
            assertThatThrownBy(() -> refunds.refund(1, true)).isInstanceOf(LeaseLostException.class);
            assertThatThrownBy(refunds::fixed).isInstanceOf(LeaseLostException.class);
            try (Lease elsewhere = locks.holdElsewhere("order.refund:2")) {
                assertThatThrownBy(() -> refunds.refund(2, false)).isInstanceOf(LockTimeoutException.class);
                assertThatThrownBy(() -> locks.assertFree("order.refund:2")).isInstanceOf(AssertionError.class);
                assertThatThrownBy(() -> locks.assertHeldHere("order.refund:2")).isInstanceOf(AssertionError.class);
                assertThatThrownBy(() -> locks.lose("order.refund:2")).isInstanceOf(IllegalStateException.class);
                assertThat(elsewhere.isValid()).isTrue();
            }
        });
    }

    @Test
    void takes_permits_as_another_instance_would() {
        application.run(context -> {
            LockTester locks = context.getBean(LockTester.class);
            Refunds refunds = context.getBean(Refunds.class);
            try (Lease elsewhere = locks.holdPermitsElsewhere("export", 3)) {
                assertThatThrownBy(refunds::export).isInstanceOf(LockTimeoutException.class);
                assertThatThrownBy(() -> locks.holdPermitsElsewhere("export", 3))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessage("Permits \"export\" are held already");
                assertThat(elsewhere.isValid()).isTrue();
            }
            refunds.export();
        });
    }

    @Test
    void permits_and_halves_of_read_write_locks_are_seen_and_lost() {
        application.run(context -> {
            LockTester locks = context.getBean(LockTester.class);
            LockClient client = context.getBean(LockClient.class);
            locks.assertFree("permits:export");
            locks.assertFree("read-write:catalog");
            Lease permit = client.permits("export", 3).tryAcquire().orElseThrow();
            Lease reader = client.tryAcquireRead("catalog").orElseThrow();
            locks.assertHeldHere("permits:export");
            locks.assertHeldHere("read:catalog");
            locks.assertHeldHere("read-write:catalog");
            locks.assertFree("write:catalog");
            locks.assertFree("export");
            assertThatThrownBy(() -> locks.assertFree("read-write:catalog"))
                    .isInstanceOf(AssertionError.class)
                    .hasMessage("\"read-write:catalog\" is not free: it is held by [" + reader.holderId() + "]");
            assertThatThrownBy(() -> locks.lose("write:catalog")).isInstanceOf(IllegalStateException.class);

            locks.lose("permits:export");
            locks.lose("read-write:catalog");
            assertThat(permit.isValid()).isFalse();
            assertThat(reader.isValid()).isFalse();
            locks.assertFree("permits:export");
            assertThat(locks.isHeld("read-write:catalog")).isFalse();
        });
    }

    @Test
    void nobody_is_kept_out_in_silence_of_a_client_that_the_application_made() {
        application
                .withBean(LockClient.class, () -> LockClient.connect("memory:own"))
                .run(context -> {
                    LockTester locks = context.getBean(LockTester.class);
                    context.getBean(Refunds.class).refund(1, false);
                    locks.assertFree("order.refund:1");
                    assertThatThrownBy(() -> locks.holdElsewhere("order.refund:1"))
                            .isInstanceOf(IllegalStateException.class)
                            .hasMessageContaining("not on the store of the tests");
                    assertThatThrownBy(() -> locks.holdPermitsElsewhere("export", 3))
                            .isInstanceOf(IllegalStateException.class)
                            .hasMessageContaining("not on the store of the tests");
                });
    }

    static class Billing {

        private final AtomicInteger runs = new AtomicInteger();

        int runs() {
            return runs.get();
        }

        @Leader("billing")
        public void run() {
            runs.incrementAndGet();
        }
    }

    @Test
    void a_context_leads_when_it_has_started() {
        empty.withBean(Billing.class).run(context -> {
            Billing billing = context.getBean(Billing.class);
            billing.run();
            assertThat(billing.runs()).isEqualTo(1);
            LockTester locks = context.getBean(LockTester.class);
            locks.assertHeldHere("leader:billing");
            locks.lead("billing");
            assertThatThrownBy(() -> locks.lead("invoices"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("\"invoices\" (expected: one of [billing], or a bean with @Leader(");
        });
    }

    @Test
    void another_instance_can_lead_for_a_time() {
        empty.withBean(Billing.class).run(context -> {
            Billing billing = context.getBean(Billing.class);
            LockTester locks = context.getBean(LockTester.class);
            try (Lease elsewhere = locks.leadElsewhere("billing")) {
                billing.run();
                assertThat(billing.runs()).isZero();
                assertThat(elsewhere.isValid()).isTrue();
            }
            locks.lead("billing");
            billing.run();
            assertThat(billing.runs()).isEqualTo(1);
        });
    }

    /** Spring keeps the contexts of earlier tests. */
    @Test
    void the_last_context_to_start_takes_the_leadership() {
        empty.withBean(Billing.class)
                .run(kept -> empty.withBean(Billing.class).run(context -> {
                    context.getBean(Billing.class).run();
                    assertThat(context.getBean(Billing.class).runs()).isEqualTo(1);
                    kept.getBean(Billing.class).run();
                    assertThat(kept.getBean(Billing.class).runs()).isZero();
                    kept.getBean(LockTester.class).lead("billing");
                    kept.getBean(Billing.class).run();
                    assertThat(kept.getBean(Billing.class).runs()).isEqualTo(1);
                }));
    }

    @Test
    void a_context_leads_again_when_it_starts_again() {
        empty.withBean(Billing.class).run(context -> {
            context.getSourceApplicationContext().stop();
            context.getBean(Billing.class).run();
            assertThat(context.getBean(Billing.class).runs()).isZero();
            context.getSourceApplicationContext().start();
            context.getBean(Billing.class).run();
            assertThat(context.getBean(Billing.class).runs()).isEqualTo(1);
        });
    }

    @Test
    void leads_also_with_a_client_that_the_application_made() {
        empty.withBean(Billing.class)
                .withBean(LockClient.class, () -> LockClient.connect("memory:own"))
                .run(context -> {
                    context.getBean(Billing.class).run();
                    assertThat(context.getBean(Billing.class).runs()).isEqualTo(1);
                });
    }

    @EnableAutoConfiguration
    static class Application {}

    /** By the list of auto-configurations and in their order, as an application gets it. */
    @Test
    void is_a_bean_of_an_application() {
        new ApplicationContextRunner()
                .withUserConfiguration(Application.class)
                .run(context -> assertThat(context).hasNotFailed().hasSingleBean(LockTester.class));
    }

    @Test
    void without_a_client_an_application_starts() {
        empty.withPropertyValues("holdfast.enabled=false")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(LockTester.class));
    }

    @Test
    void outside_of_tests_a_warning_says_that_the_locks_exclude_no_other_process(CapturedOutput output) {
        String warning = "The locks are in the memory of this process and exclude no other";
        empty.run(context -> assertThat(context).hasNotFailed());
        assertThat(output).as("here JUnit is on the class path").doesNotContain(warning);

        empty.withClassLoader(new FilteredClassLoader("org.junit"))
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output)
                .containsOnlyOnce(warning)
                .containsPattern("WARN.*" + warning + ", because io\\.holdfast:holdfast-spring-boot-starter-test is on"
                        + " the class path.*\\(expected: that dependency with the scope test\\)");
    }

    /** The names of the slices are tested there, also those of Boot 3. */
    @Test
    void the_slices_with_locks_are_those_in_which_the_starter_answers_requests() throws IOException {
        Set<String> withAnswers = new TreeSet<>();
        Set<String> withLocks = new TreeSet<>();
        for (Resource list :
                new PathMatchingResourcePatternResolver().getResources("classpath*:META-INF/spring/*.imports")) {
            String classes = list.getContentAsString(StandardCharsets.UTF_8);
            if (classes.contains("io.holdfast.spring.boot.HoldfastWebAutoConfiguration")) {
                withAnswers.add(String.valueOf(list.getFilename()));
            }
            if (classes.contains(HoldfastTestAutoConfiguration.class.getName())) {
                withLocks.add(String.valueOf(list.getFilename()));
            }
        }
        assertThat(withLocks).hasSize(1 + 4).isEqualTo(withAnswers);
    }

    @Test
    void two_contexts_are_two_instances() {
        application.run(one -> application.run(other -> {
            try (Lease lease = one.getBean(io.holdfast.LockClient.class).acquire("shared")) {
                assertThat(other.getBean(LockTester.class).isHeld("shared")).isTrue();
                assertThat(other.getBean(LockTester.class).isHeldHere("shared")).isFalse();
                assertThat(lease.isValid()).isTrue();
            }
        }));
    }
}
