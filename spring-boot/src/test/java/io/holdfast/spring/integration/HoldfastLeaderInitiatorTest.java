package io.holdfast.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.LockClient;
import io.holdfast.spring.boot.Contexts;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.integration.leader.AbstractCandidate;
import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.event.AbstractLeaderEvent;
import org.springframework.integration.leader.event.OnGrantedEvent;

/** Candidates and events of Spring Integration, on both of its versions. */
@Timeout(120)
class HoldfastLeaderInitiatorTest {

    private static final Duration LONG = Duration.ofSeconds(60);

    static class Recorder extends AbstractCandidate {

        final List<String> events = new CopyOnWriteArrayList<>();

        Recorder() {
            super("node", "billing");
        }

        @Override
        public void onGranted(Context context) {
            events.add("granted " + context.isLeader() + " " + context.getRole());
        }

        @Override
        public void onRevoked(Context context) {
            events.add("revoked " + context.isLeader());
        }

        @EventListener
        public void on(AbstractLeaderEvent event) {
            events.add(
                    (event instanceof OnGrantedEvent ? "event of grant " : "event of revocation ") + event.getRole());
        }

        @EventListener
        public void on(ContextClosedEvent event) {
            events.add("closing");
        }

        void await(String event, int count) {
            org.awaitility.Awaitility.await()
                    .atMost(LONG)
                    .until(() -> events.stream().filter(event::equals).count() == count);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Beans {

        @Bean
        Recorder recorder() {
            return new Recorder();
        }

        @Bean
        HoldfastLeaderInitiator initiator(LockClient locks, Recorder recorder) {
            return new HoldfastLeaderInitiator(locks, recorder);
        }
    }

    @Test
    void calls_the_candidate_and_publishes_events() {
        var application = Contexts.memory("initiator").withUserConfiguration(Beans.class);
        application.run(first -> {
            Recorder one = first.getBean(Recorder.class);
            one.await("event of grant billing", 1);
            assertThat(one.events).containsExactly("granted true billing", "event of grant billing");
            HoldfastLeaderInitiator initiator = first.getBean(HoldfastLeaderInitiator.class);
            assertThat(initiator.getContext().isLeader()).isTrue();
            application.run(second -> {
                Recorder other = second.getBean(Recorder.class);
                assertThat(other.events).isEmpty();
                assertThat(second.getBean(HoldfastLeaderInitiator.class)
                                .getContext()
                                .isLeader())
                        .isFalse();
                first.getSourceApplicationContext().close();
                assertThat(one.events)
                        .containsExactly(
                                "granted true billing",
                                "event of grant billing",
                                "revoked false",
                                "event of revocation billing",
                                "closing");
                other.await("event of grant billing", 1);
            });
        });
    }

    @Test
    void yields_and_stops_and_starts() {
        Contexts.memory("initiator-yield").withUserConfiguration(Beans.class).run(context -> {
            Recorder recorder = context.getBean(Recorder.class);
            HoldfastLeaderInitiator initiator = context.getBean(HoldfastLeaderInitiator.class);
            recorder.await("event of grant billing", 1);
            initiator.getContext().yield();
            recorder.await("event of grant billing", 2);
            assertThat(initiator.isRunning()).isTrue();
            initiator.stop();
            assertThat(recorder.events).last().isEqualTo("event of revocation billing");
            assertThat(initiator.isRunning()).isFalse();
            assertThat(initiator.getContext().isLeader()).isFalse();
            initiator.start();
            recorder.await("event of grant billing", 3);
        });
    }

    /** The initiator of Spring Integration, which runs on any registry, learns of the end after it. */
    @Test
    void spring_integrations_own_initiator_works_on_the_registry() throws Exception {
        CountDownLatch revoked = new CountDownLatch(1);
        try (LockClient locks = LockClient.connect("memory:initiator-registry");
                LockClient other = LockClient.connect("memory:initiator-registry")) {
            Recorder recorder = new Recorder() {
                @Override
                public void onRevoked(Context context) {
                    revoked.countDown();
                }
            };
            var initiator = new org.springframework.integration.support.leader.LockRegistryLeaderInitiator(
                    new Boot3LockRegistry(locks, "leaders"), recorder);
            initiator.setApplicationEventPublisher(event -> {});
            initiator.start();
            try {
                await().atMost(LONG).until(() -> !recorder.events.isEmpty());
                assertThat(other.tryAcquire("leaders:billing")).isEmpty();
                other.forceRelease("leaders:billing");
                assertThat(revoked.await(60, java.util.concurrent.TimeUnit.SECONDS))
                        .isTrue();
            } finally {
                initiator.destroy();
            }
            other.acquire("leaders:billing", LONG).release();
        }
    }
}
