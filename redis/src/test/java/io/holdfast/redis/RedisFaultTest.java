package io.holdfast.redis;

import static io.holdfast.redis.TestClient.failure;
import static io.holdfast.spi.StoreException.Outcome.NOT_EXECUTED;
import static io.holdfast.spi.StoreException.Outcome.UNKNOWN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewReply.Gone;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreState;
import io.holdfast.testkit.faults.FaultProxy;
import io.holdfast.testkit.servers.RedisServer;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Connections that break, hang and come back; one client behind a bad network, one beside it. */
class RedisFaultTest {

    /** Several tests wait for its end; the others must not fail where a slow machine takes a second to answer. */
    private static final int TIMEOUT_MILLIS = 2_000;

    private RedisServer server;
    private FaultProxy proxy;
    private TestClient client;
    private TestClient healthy;

    @BeforeEach
    void start() {
        server = RedisServer.start();
        proxy = FaultProxy.to("127.0.0.1", server.port());
        client = new TestClient(proxy.uri() + "?timeout=" + TIMEOUT_MILLIS + "ms");
        healthy = new TestClient(server.uri());
    }

    @AfterEach
    void stop() {
        client.close();
        healthy.close();
        proxy.close();
        server.close();
    }

    @Test
    void anAcquireCutInFlightIsUnknownAndRepeatingItCountsOnce() {
        String holder = client.newHolder();
        proxy.holdReplies(true);
        var acquire = client.store.acquire(client.request("n", holder, 30_000, false));
        awaitExecuted("n", holder);
        proxy.cutAll();
        assertThat(failure(acquire).outcome()).isEqualTo(UNKNOWN);
        proxy.holdReplies(false);
        awaitConnected();

        long base = healthy.inspect("n").base();
        assertThat(client.acquire("n", holder, 30_000, false)).isEqualTo(new Granted(base, 0));
        assertThat(client.release("n", holder)).isTrue();
        assertThat(healthy.inspect("n")).isEqualTo(StoreState.free(0));
    }

    @Test
    void aReleaseCutInFlightIsUnknownAndRepeatingItTouchesNobody() {
        String holder = client.hold("n");
        String next = healthy.queue("n");
        proxy.holdReplies(true);
        var release = client.store.release(ReleaseRequest.of("n", holder));
        healthy.await("granted n " + next, 10_000);
        proxy.cutAll();
        assertThat(failure(release).outcome()).isEqualTo(UNKNOWN);
        proxy.holdReplies(false);
        awaitConnected();

        assertThat(client.release("n", holder)).isFalse();
        assertThat(client.abandon("n", holder)).isFalse();
        assertThat(healthy.inspect("n").holder()).isEqualTo(next);
    }

    /** Lettuce's default is to send again what was in flight. */
    @Test
    void theDriverSendsNothingAgain() throws Exception {
        proxy.holdRequests(true);
        var acquire = client.store.acquire(client.request("n", client.newHolder(), 30_000, true));
        await().until(() -> proxy.pendingRequestBytes() > 0);
        long before = evalshas();
        proxy.cutAll();
        proxy.holdRequests(false);
        assertThat(failure(acquire).outcome()).isEqualTo(UNKNOWN);
        client.await("reconnected", 10_000);
        client.await("reconnected", 10_000);
        Thread.sleep(50);
        assertThat(evalshas()).isEqualTo(before);
        assertThat(healthy.inspect("n")).isEqualTo(StoreState.free(0));
    }

    /** What is sent while there is no connection is not kept for later. */
    @Test
    void nothingIsKeptForLater() throws Exception {
        proxy.refuse(true);
        proxy.cutAll();
        await().untilAsserted(() ->
                assertThat(failure(client.store.inspect("n")).outcome()).isEqualTo(NOT_EXECUTED));
        StoreException refused = failure(client.store.acquire(client.request("n", client.newHolder(), 30_000, true)));
        assertThat(refused.outcome()).isEqualTo(NOT_EXECUTED);
        proxy.refuse(false);
        awaitConnected();
        assertThat(healthy.inspect("n")).isEqualTo(StoreState.free(0));
    }

    @Test
    void aLateAcquireIsRefused() throws Exception {
        proxy.holdRequests(true);
        var acquire = client.store.acquire(client.request("n", client.newHolder(), 30_000, true));
        assertThat(failure(acquire).outcome()).isEqualTo(UNKNOWN);
        Thread.sleep(200);
        deliverLate();
        assertThat(healthy.inspect("n")).isEqualTo(StoreState.free(0));
    }

    @Test
    void aLateRequeueIsARelease() throws Exception {
        String holder = client.hold("n");
        proxy.holdRequests(true);
        var release = client.store.release(
                ReleaseRequest.requeueing("n", holder, client.request("n", client.newHolder(), 30_000, true)));
        assertThat(failure(release).outcome()).isEqualTo(UNKNOWN);
        Thread.sleep(200);
        deliverLate();
        await().untilAsserted(() -> assertThat(healthy.inspect("n")).isEqualTo(StoreState.free(0)));
    }

    @Test
    void aKilledSubscriptionComesBack() {
        String holder = healthy.hold("n");
        server.command("CLIENT", "KILL", "TYPE", "pubsub");
        client.await("reconnected", 10_000);
        healthy.await("reconnected", 10_000);
        String waiting = client.queue("n");
        healthy.await("contended n " + holder, 10_000);
        healthy.release("n", holder);
        client.await("granted n " + waiting, 10_000);
    }

    @Test
    void aKilledCommandConnectionComesBack() {
        server.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
        client.await("reconnected", 10_000);
        awaitConnected();
        client.hold("n");
    }

    /** Firewalls forget connections without telling anybody. */
    @Test
    void aSilentConnectionIsReplaced() {
        proxy.dropReplies(true);
        assertThat(failure(client.store.inspect("n")).outcome()).isEqualTo(UNKNOWN);
        // Until the client has hung up.
        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(() ->
                        assertThat(failure(client.store.inspect("n")).outcome()).isEqualTo(NOT_EXECUTED));
        proxy.cutAll();
        proxy.dropReplies(false);
        client.await("reconnected", 10_000);
        awaitConnected();
        client.hold("n");
    }

    @Test
    void aPausedServerIsUnknownAndGoesOn() {
        String holder = client.hold("n");
        server.pause();
        assertThat(failure(client.store.release(ReleaseRequest.of("n", holder))).outcome())
                .isEqualTo(UNKNOWN);
        server.resume();
        await().untilAsserted(() -> assertThat(healthy.inspect("n")).isEqualTo(StoreState.free(0)));
        assertThat(client.release("n", holder)).isFalse();
    }

    @Test
    void aRestartedServerKnowsNothingAndIsUsable() {
        String holder = healthy.hold("n");
        long base = healthy.inspect("n").base();
        server.kill();
        server.restart();
        healthy.await("reconnected", 10_000);
        await().ignoreExceptions()
                .untilAsserted(
                        () -> assertThat(healthy.renew("n", holder, 30_000)).isEqualTo(new Gone()));
        healthy.hold("n");
        assertThat(healthy.inspect("n").base()).isGreaterThan(base);
    }

    private void awaitExecuted(String name, String holder) {
        await().untilAsserted(() -> assertThat(healthy.inspect(name).holder()).isEqualTo(holder));
    }

    /** Until commands are answered again; "reconnected" may have come from the other connection. */
    private void awaitConnected() {
        await().atMost(Duration.ofSeconds(20)).ignoreExceptions().until(() -> client.inspect("any") != null);
    }

    private void deliverLate() {
        long before = evalshas();
        proxy.holdRequests(false);
        await().until(() -> evalshas() > before);
    }

    private long evalshas() {
        return server.commandCounts().getOrDefault("evalsha", 0L);
    }
}
