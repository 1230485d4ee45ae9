package io.holdfast.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import io.holdfast.testkit.contract.RecordingListener.Kind;
import io.holdfast.testkit.contract.RecordingListener.Message;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;

/** The methods that a store's test overrides, and the helpers that the parts of the contract share. */
abstract class StoreHarness {

    /** Longer than every test, even on a slow machine. */
    static final Duration LONG = Duration.ofSeconds(60);

    /** Less than {@link #LONG} by more than any test takes. */
    static final Duration MEDIUM = Duration.ofSeconds(20);

    /** Short enough for a test to wait for its end. */
    static final Duration SHORT = Duration.ofMillis(300);

    static final Duration AFTER_SHORT = SHORT.plusMillis(100);

    /** The time to wait for messages that should not come. */
    private static final Duration QUIET = Duration.ofMillis(150);

    private final List<StoreClient> clients = new CopyOnWriteArrayList<>();

    /** Clients of one server; a test uses as many of them as it needs. */
    final StoreClient a = client();

    final StoreClient b = client();
    final StoreClient c = client();

    /** A lock name that only this test uses. */
    final String name = "contract:" + UUID.randomUUID();

    /** Opens the view of one client. A test calls it several times; all these clients share one server. */
    protected abstract LockStore open(StoreContext context);

    /** Returns the part of a store that the contract is about, ready for its listener. */
    LockStore view(LockStore opened) {
        return opened;
    }

    /** Lets this time pass: the thread sleeps. A test with virtual time overrides this method to advance the time. */
    protected void elapse(Duration span) {
        // A permit that is left from before ends one park at once.
        long end = System.nanoTime() + span.toNanos();
        for (long left = span.toNanos(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    /** Returns the time of the clients. */
    protected TimeSource time() {
        return TimeSource.system();
    }

    /**
     * Returns whether the store keeps a queue, passes released names on by itself and sends the next client a grant.
     */
    protected boolean hasQueue() {
        return true;
    }

    /** Returns whether clients of the store may send each other messages. */
    protected boolean sendsMessages() {
        return true;
    }

    /** Returns whether a grant says since when the hold lasts, so that the receiver needs no other command. */
    protected boolean timesGrants() {
        return false;
    }

    /** Returns whether the store passes on a name by itself when its hold runs out, without a command of a client. */
    protected boolean passesOnAtExpiry() {
        return false;
    }

    /** Returns whether the store keeps the base of a hold where other clients see it. */
    protected boolean showsBases() {
        return true;
    }

    /** Returns whether a busy reply knows which hold of another client ends first, and when. */
    protected boolean knowsEnds() {
        return true;
    }

    /** Returns whether the store may promise less than the request asked for, and the rest by renewals. */
    protected boolean promisesParts() {
        return false;
    }

    /** Returns the reply without the promised length, if the store may promise less than the request asked for. */
    final RenewReply apartFromLength(RenewReply reply) {
        return promisesParts() && reply instanceof RenewReply.Renewed renewed
                ? new RenewReply.Renewed(renewed.waiting())
                : reply;
    }

    @AfterEach
    final void closeClients() {
        clients.forEach(StoreClient::close);
    }

    final StoreClient client() {
        StoreClient client = new StoreClient(id -> open(new StoreContext(id, time())), this::view);
        clients.add(client);
        return client;
    }

    /** Takes a free name for a long time. Returns the holder id. */
    String hold(StoreClient client, String name) {
        String holder = client.newId();
        granted(client.take(name, holder, LONG));
        return holder;
    }

    /** Takes a place in the queue of a held name, which lives long without polls. Returns the holder id. */
    String queue(StoreClient client, String name) {
        return queue(client, name, MEDIUM);
    }

    /** Takes a place in the queue of a held name, which lives for three of these intervals without a poll. */
    String queue(StoreClient client, String name, Duration poll) {
        String holder = client.newId();
        busy(client.queue(name, holder, LONG, poll));
        return holder;
    }

    /** Lets a hold run out. */
    void expire(StoreClient client, String name, String holder) {
        client.set(name, holder, Duration.ofMillis(1), 1_000);
        elapse(Duration.ofMillis(50));
    }

    static Granted granted(@Nullable AcquireReply reply) {
        assertThat(reply).isInstanceOf(Granted.class);
        return (Granted) Objects.requireNonNull(reply);
    }

    static Busy busy(@Nullable AcquireReply reply) {
        assertThat(reply).isInstanceOf(Busy.class);
        return (Busy) Objects.requireNonNull(reply);
    }

    static void assertHolder(StoreClient observer, String name, String holder) {
        assertThat(observer.inspect(name).holder()).isEqualTo(holder);
    }

    static void assertFree(StoreClient observer, String name) {
        assertThat(observer.inspect(name).holder()).isNull();
    }

    /** Asserts that the time left is at most this, and more than the next shorter time of this class. */
    static void assertRemaining(StoreClient observer, String name, Duration atMost) {
        Duration moreThan = atMost.compareTo(MEDIUM) > 0 ? MEDIUM : Duration.ZERO;
        assertThat(observer.inspect(name).remainingMillis())
                .isGreaterThan(moreThan.toMillis())
                .isLessThanOrEqualTo(atMost.toMillis());
    }

    void awaitGranted(StoreClient client, String name, String holder) {
        awaitMessage(client, new Message(Kind.GRANTED, name, holder));
    }

    void awaitMessage(StoreClient client, Message message) {
        awaitThat(() -> assertThat(client.listener.messages()).contains(message));
    }

    /** Waits until the client receives that its hold was ended by force, or is lost. */
    void awaitForced(StoreClient client, String name, String holder) {
        awaitThat(() -> assertThat(client.listener.messages())
                .containsAnyOf(new Message(Kind.FORCED, name, holder), new Message(Kind.LOST, name, holder)));
    }

    void awaitMessages(StoreClient client, Kind kind, int count) {
        awaitThat(() -> assertThat(client.listener.messages(kind)).hasSize(count));
    }

    private void awaitThat(Runnable assertion) {
        await().atMost(Duration.ofSeconds(10))
                .pollInterval(Duration.ofMillis(2))
                .untilAsserted(() -> {
                    elapse(Duration.ZERO); // a virtual time delivers what is due
                    assertion.run();
                });
    }

    /** Waits for messages that should not come. */
    void awaitQuiet() {
        elapse(QUIET);
    }
}
