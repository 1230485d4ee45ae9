package io.holdfast.jmx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Leadership;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockClientClosedException;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.FutureTask;
import javax.management.InstanceAlreadyExistsException;
import javax.management.JMX;
import javax.management.MBeanServer;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.RuntimeMBeanException;
import javax.management.openmbean.CompositeData;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXConnectorServer;
import javax.management.remote.JMXConnectorServerFactory;
import javax.management.remote.JMXServiceURL;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What JMX shows and does. */
class LockManagementTest {

    private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    private final LockClient client = LockClient.connect("memory:managed");
    private final LockClient other = LockClient.connect("memory:managed");

    @AfterEach
    void close() {
        client.close();
        other.close();
    }

    @Test
    void shows_what_is_held_and_waited_for() throws Exception {
        ObjectName name = LockManagement.register(client);
        Lease held = client.acquire("held");
        FutureTask<Long> work = new FutureTask<>(() -> {
            try (Lease mine = client.acquire("held")) {
                return mine.fencingToken();
            }
        });
        Thread waiter = new Thread(work, "the waiter");
        waiter.start();
        LockClientMXBean shown = JMX.newMXBeanProxy(server, name, LockClientMXBean.class);
        await().until(() -> shown.getOldestWaitMillis() >= 20);

        assertThat(shown.getHeldCount()).isEqualTo(1);
        assertThat(shown.getWaitingCount()).isEqualTo(1);
        assertThat(shown.getRenewalLagMillis()).isZero();
        assertThat(shown.getStore()).isEqualTo("memory");
        assertThat(shown.getLocks()).singleElement().satisfies(lock -> {
            assertThat(lock.getName()).isEqualTo("held");
            assertThat(lock.isHeld()).isTrue();
            assertThat(lock.getFencingToken()).isEqualTo(held.fencingToken());
            assertThat(lock.getRemainingMillis()).isPositive();
            assertThat(lock.getWaiting()).isEqualTo(1);
            assertThat(lock.getLongestWaitMillis()).isGreaterThanOrEqualTo(20);
        });
        held.release();
        work.get();
        assertThat(shown.getWaitingCount()).isZero();
    }

    /** An alert may be on the longest wait, and a candidate may wait for months. */
    @Test
    void shows_who_leads_and_no_candidate_as_one_that_waits_too_long() {
        ObjectName name = LockManagement.register(client);
        LockClientMXBean shown = JMX.newMXBeanProxy(server, name, LockClientMXBean.class);
        try (Leadership leader = client.leadership("billing", term -> {})) {
            await().until(() -> shown.getLeads().equals(List.of("billing")));
            try (Leadership next = client.leadership("billing", term -> {})) {
                await().until(() -> !client.localLocks().get(0).longestWait().isZero());
                assertThat(shown.getOldestWaitMillis()).isZero();
                assertThat(next.isLeader()).isFalse();
            }
            assertThat(leader.isLeader()).isTrue();
        }
        assertThat(shown.getLeads()).isEmpty();
    }

    @Test
    void those_that_wait_longest_come_first_and_few_of_very_many_are_shown() throws Exception {
        ObjectName name = LockManagement.register(client);
        Lease first = client.acquire("held:0");
        // The ages are read one after the other, so a difference of microseconds would not show.
        Thread.sleep(50);
        for (int i = 1; i < 250; i++) {
            assertThat(client.acquire("held:" + i).isValid()).isTrue();
        }
        try (Lease elsewhere = other.acquire("elsewhere")) {
            var waits = client.acquireAsync("elsewhere").toCompletableFuture();
            LockClientMXBean shown = JMX.newMXBeanProxy(server, name, LockClientMXBean.class);
            await().until(() -> shown.getOldestWaitMillis() > 0);
            assertThat(shown.getHeldCount()).isEqualTo(250);
            assertThat(shown.getLocks()).hasSize(200);
            assertThat(shown.getLocks().get(0).getName()).isEqualTo("elsewhere");
            assertThat(shown.getLocks().get(1).getName()).isEqualTo("held:0");
            waits.cancel(true);
            assertThat(first.isValid()).isTrue();
            assertThat(elsewhere.isValid()).isTrue();
        }
    }

    @Test
    void two_clients_have_two_names_that_end_with_them() {
        ObjectName first = LockManagement.register(client);
        ObjectName second = LockManagement.register(other);
        assertThat(first).isNotEqualTo(second);
        assertThatThrownBy(() -> LockManagement.register(client))
                .isInstanceOf(IllegalStateException.class)
                .hasCauseInstanceOf(InstanceAlreadyExistsException.class);
        client.close();
        assertThat(server.isRegistered(first)).isFalse();
        assertThat(server.isRegistered(second)).isTrue();
        assertThatThrownBy(() -> LockManagement.register(client)).isInstanceOf(LockClientClosedException.class);
        assertThat(server.isRegistered(first)).isFalse();
        other.close();
        assertThat(server.isRegistered(second)).isFalse();
    }

    /** The next client under the same object has another id, and is registered on its own. */
    @Test
    void a_reopened_client_is_registered_again_under_its_new_id() {
        ObjectName before = LockManagement.register(client);
        client.close();
        client.reopen();
        ObjectName after = LockManagement.register(client);
        assertThat(after).isNotEqualTo(before);
        assertThat(server.isRegistered(before)).isFalse();
        assertThat(JMX.newMXBeanProxy(server, after, LockClientMXBean.class).getId())
                .isEqualTo(client.id());
        client.close();
        assertThat(server.isRegistered(after)).isFalse();
    }

    @Test
    void releases_by_force_only_if_that_was_allowed() throws Exception {
        LockClientMXBean reading = JMX.newMXBeanProxy(server, LockManagement.register(client), LockClientMXBean.class);
        LockClientMXBean forcing =
                JMX.newMXBeanProxy(server, LockManagement.register(other, true), LockClientMXBean.class);
        Lease lease = client.acquire("held");
        String holder = reading.findHolder("held");
        assertThatThrownBy(() -> reading.forceRelease("held", holder))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("LockManagement.register(client, true)");
        assertThat(lease.isValid()).isTrue();
        assertThatThrownBy(() -> forcing.forceRelease(" ", holder)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> forcing.forceRelease("held", ""))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("forceUnlock");
        assertForced(forcing.forceRelease("held", "hf-seen-before:1"), "HELD_BY_ANOTHER", holder);
        assertThat(lease.isValid()).isTrue();
        assertForced(forcing.forceRelease("held", holder), "ENDED", holder);
        assertForced(forcing.forceRelease("held", holder), "FREE", "");
        assertThat(reading.findHolder("held")).isEmpty();
    }

    private static void assertForced(LockClientMXBean.ForceInfo release, String outcome, String holder) {
        assertThat(release.getOutcome()).isEqualTo(outcome);
        assertThat(release.getHolder()).isEqualTo(holder);
    }

    /** A console has none of our classes. */
    @Test
    @SuppressWarnings("BanJNDI") // it talks to itself, over loopback
    void a_remote_console_needs_no_class_of_ours() throws Exception {
        ObjectName name = LockManagement.register(client);
        Lease held = client.acquire("held");
        JMXConnectorServer connector =
                JMXConnectorServerFactory.newJMXConnectorServer(new JMXServiceURL("rmi", "127.0.0.1", 0), null, server);
        connector.start();
        try (JMXConnector remote = JMXConnectorFactory.connect(connector.getAddress())) {
            MBeanServerConnection connection = remote.getMBeanServerConnection();
            CompositeData[] locks = (CompositeData[]) connection.getAttribute(name, "Locks");
            assertThat(locks[0].get("name")).isEqualTo("held");
            assertThat(locks[0].get("fencingToken")).isEqualTo(held.fencingToken());
            assertThatThrownBy(() ->
                            connection.invoke(name, "forceRelease", new Object[] {"held", "hf-a:1"}, new String[] {
                                String.class.getName(), String.class.getName()
                            }))
                    .isInstanceOf(RuntimeMBeanException.class)
                    .hasRootCauseInstanceOf(UnsupportedOperationException.class);
        } finally {
            connector.stop();
        }
    }
}
