package io.holdfast.redis.failures;

import static io.holdfast.redis.failures.UnderFault.LEASE;
import static io.holdfast.redis.failures.UnderFault.PATIENCE;
import static io.holdfast.redis.failures.UnderFault.SHORT_LEASE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.redis.failures.FaultServers.Run;
import io.holdfast.testkit.OverlapDetector;
import io.holdfast.testkit.faults.FaultProxy;
import io.holdfast.testkit.servers.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The first client in the queue dies at each step of the hand-off to it. The client behind it gets the lock: at once
 * where the server can see the death, otherwise when the short first lease (3 s) or the full lease has run out.
 *
 * <p>A client dies in two ways. It is cut off for good: its traffic is held, then lost, and it releases nothing. Or its
 * process is killed: what it has sent still arrives.
 */
@Tag("deep") // quick: QueueContract, in each contract of a store
@ParameterizedClass(name = "{0}, {1}")
@MethodSource("deaths")
@Timeout(120)
class HandOffFaultsTest {

    enum Death {
        CUT_OFF,
        KILLED
    }

    /** Who dies. */
    interface Victim extends AutoCloseable {

        /** Waits until it holds the lock. */
        long token() throws Exception;

        /** Begins to release. */
        void release() throws Exception;

        void die() throws Exception;

        @Override
        void close();
    }

    private static final Duration FIRST_LEASE = Duration.ofSeconds(3);

    private static final List<Thread> CLOSING = new CopyOnWriteArrayList<>();

    private static RedisServer server;

    private final Run run;
    private final Death death;
    private FaultProxy proxy;
    private LockClient holder;
    private Victim dying;
    private LockClient next;
    private final OverlapDetector detector = new OverlapDetector("handed");
    private Lease held;
    private CompletableFuture<Lease> second;

    HandOffFaultsTest(Run run, Death death) {
        this.run = run;
        this.death = death;
    }

    static List<Arguments> deaths() {
        return FaultServers.few().stream()
                .flatMap(run -> Stream.of(Death.values()).map(death -> Arguments.of(run, death)))
                .toList();
    }

    @BeforeParameterizedClassInvocation
    static void start(Run run, Death death) {
        server = RedisServer.builder().installation(run.installation()).start();
    }

    @AfterParameterizedClassInvocation
    static void stop() throws InterruptedException {
        for (Thread closing : CLOSING) {
            closing.join(PATIENCE.toMillis());
        }
        server.close();
    }

    /** Held by one, waited for by the one that will die, and by the next. */
    @BeforeEach
    void queue() throws Exception {
        server.command("FLUSHALL");
        proxy = FaultProxy.to(server.host(), server.port());
        holder = UnderFault.client(server.uri(), LEASE);
        next = UnderFault.client(server.uri(), LEASE);
        held = holder.acquire("handed");
        detector.enter(held.fencingToken());
        dying = death == Death.KILLED ? WaitingProcess.start(proxy.uri(), "handed") : new CutOff(proxy);
        awaitWaiting(1);
        second = next.acquireAsync("handed", LockOptions.defaults().waitAtMost(PATIENCE))
                .toCompletableFuture();
        awaitWaiting(2);
    }

    private void awaitWaiting(int clients) {
        await().atMost(PATIENCE)
                .ignoreExceptions()
                .until(() -> holder.inspect("handed").waitingClients() == clients);
    }

    @AfterEach
    void close() {
        dying.close();
        holder.close();
        next.close();
        detector.assertClean();
    }

    @Test
    void whileItWaits() throws Exception {
        die();
        await().atMost(PATIENCE).until(() -> subscribers() == 2);
        long began = release();
        served("waiter dead before the release", began, Duration.ZERO);
    }

    /** The server has not noticed: the message counts as heard. */
    @Test
    void whileItWaitsUnnoticed() throws Exception {
        proxy.holdRequests(true);
        proxy.holdReplies(true);
        long began = release();
        served("waiter silent before the release", began, FIRST_LEASE);
        die();
    }

    @Test
    void beforeItsConfirmationIsSent() throws Exception {
        proxy.holdRequests(true);
        long began = release();
        await().atMost(PATIENCE).until(() -> proxy.pendingRequestBytes() > 0);
        die();
        served("dead with the grant, before its confirmation", began, FIRST_LEASE);
    }

    @Test
    void beforeItsConfirmationIsAnswered() throws Exception {
        proxy.holdReplies(true);
        long began = release();
        await().atMost(PATIENCE).until(() -> proxy.pendingReplyBytes() > 0);
        die();
        served("dead before the answer to its confirmation", began, FIRST_LEASE);
    }

    @Test
    void whileItHolds() throws Exception {
        release();
        detector.enter(dying.token());
        long began = System.nanoTime();
        die();
        detector.leave();
        served("dead while it holds", began, SHORT_LEASE);
    }

    @Test
    void whileItReleases() throws Exception {
        release();
        detector.enter(dying.token());
        detector.leave();
        proxy.holdRequests(true);
        long began = System.nanoTime();
        dying.release();
        await().atMost(PATIENCE).until(() -> proxy.pendingRequestBytes() > 0);
        die();
        served("dead with its release on the way", began, SHORT_LEASE);
    }

    private long release() {
        detector.leave();
        long now = System.nanoTime();
        held.release();
        return now;
    }

    private static long subscribers() {
        return String.valueOf(server.command("CLIENT", "LIST", "TYPE", "pubsub"))
                .lines()
                .count();
    }

    private void die() throws Exception {
        dying.die();
        if (death == Death.KILLED) {
            proxy.holdRequests(false);
            proxy.holdReplies(false);
        }
    }

    private void served(String scenario, long began, Duration atMost) throws Exception {
        Lease lease = second.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        long millis = (System.nanoTime() - began) / 1_000_000;
        detector.enter(lease.fencingToken());
        System.out.println("failures: " + run + ": hand-off, " + death + ", " + scenario + ": next holder after "
                + millis + " ms");
        assertThat(millis).isLessThan(atMost.toMillis() + 10_000);
        detector.leave();
        lease.release();
    }

    /** A client of this process behind a proxy. It has one outcome, too: its wait ends, by an error or by its time. */
    private static final class CutOff implements Victim {

        private final FaultProxy proxy;
        private final LockClient client;
        private final CompletableFuture<Lease> waiting;
        private @Nullable CompletableFuture<Void> releasing;
        private @Nullable Lease lease;

        CutOff(FaultProxy proxy) {
            this.proxy = proxy;
            client = UnderFault.client(proxy.uri(), SHORT_LEASE);
            waiting = client.acquireAsync("handed", LockOptions.defaults().waitAtMost(PATIENCE))
                    .toCompletableFuture();
        }

        @Override
        public long token() throws Exception {
            Lease granted = waiting.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
            lease = granted;
            return granted.fencingToken();
        }

        @Override
        public void release() {
            releasing = Objects.requireNonNull(lease).releaseAsync().toCompletableFuture();
        }

        @Override
        public void die() {
            proxy.refuse(true);
            proxy.cutAll();
            proxy.holdRequests(false);
            proxy.holdReplies(false);
        }

        @Override
        public void close() {
            await().atMost(PATIENCE.plusSeconds(10)).until(waiting::isDone);
            if (releasing != null) {
                await().atMost(PATIENCE).until(releasing::isDone);
            }
            if (lease != null) {
                assertThat(lease.isValid()).isFalse();
            }
            // It cannot reach the server, and tries for a while.
            Thread closing = new Thread(client::close, "close the dead");
            closing.start();
            CLOSING.add(closing);
        }
    }
}
