package io.holdfast.verify.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * A leader that has been replaced and does not know it yet: it answers a {@code sync}, and its followers what is read,
 * without what the others have committed since.
 */
class StaleLeaderTest {

    private static final long TIMEOUT_MILLIS = 500;

    private final VirtualTime time = new VirtualTime();
    private final SimEnsemble ensemble = new SimEnsemble(
            time,
            new SplittableRandom(15), // one by which the client tries the servers in the order that this is about
            new SimEnsemble.Shape(3, 200, 2_000, 1_000_000, 500_000, 0, 0, 5_000_000_000L));
    private final int stale = ensemble.leader();
    private final SimClient client = ensemble.connect("c1", time, Runnable::run, TIMEOUT_MILLIS, EnsembleBug.NONE);

    @Test
    void a_node_that_a_stale_leader_does_not_know_is_withdrawn_all_the_same() {
        while (!client.isOpen()) {
            time.runNext();
        }
        makeTheFolder();
        replaceTheLeader();
        ensemble.cutOff(client, stale, Duration.ofMillis(150).toNanos());
        client.breakConnection();
        elapse(140);
        assertThat(client.server()).isNotEqualTo(-1).isNotEqualTo(stale);

        CompletableFuture<AcquireReply> asked =
                client.store().acquire(request("c1:2")).toCompletableFuture();
        while (ensemble.waiting("a").isEmpty()) {
            time.runNext();
        }
        for (int server = 0; server < 3; server++) {
            if (server != stale) {
                ensemble.cutOff(client, server, Duration.ofSeconds(1).toNanos());
            }
        }
        client.breakConnection();
        elapse(100);
        assertThat(asked).isCompletedExceptionally();
        assertThat(client.server()).isEqualTo(stale);
        assertThat(ensemble.leader()).isNotEqualTo(stale);

        // As the engine does: until the store says that it is done.
        for (boolean done = false; !done; ) {
            CompletableFuture<Boolean> withdrawn =
                    client.store().abandon("a", "c1:2").toCompletableFuture();
            elapse(2 * TIMEOUT_MILLIS);
            done = !withdrawn.isCompletedExceptionally();
        }
        elapse(5_000);
        assertThat(ensemble.waiting("a")).isEmpty();
    }

    private void makeTheFolder() {
        CompletableFuture<AcquireReply> first =
                client.store().acquire(request("c1:1")).toCompletableFuture();
        elapse(100);
        assertThat(first.getNow(null)).isInstanceOf(AcquireReply.Granted.class);
        CompletableFuture<Boolean> left = client.store().abandon("a", "c1:1").toCompletableFuture();
        elapse(100);
        assertThat(left.getNow(false)).isTrue();
    }

    /** The others begin again, and cannot reach it. */
    private void replaceTheLeader() {
        ensemble.cutOffFromServers(stale, Duration.ofSeconds(5).toNanos());
        for (int server = 0; server < 3; server++) {
            if (server != stale) {
                ensemble.crash(server, 1_000_000, true);
            }
        }
        while (ensemble.leader() == stale) {
            time.runNext();
        }
    }

    private static AcquireRequest request(String holderId) {
        return AcquireRequest.queueing("a", holderId, 1_000, 1_000);
    }

    private void elapse(long millis) {
        time.advance(Duration.ofMillis(millis));
    }
}
