package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.RenewReply.Renewed;
import io.holdfast.spi.RenewReply.Superseded;
import io.holdfast.testkit.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Renewals and settings of a length, in every order in which they can be executed. */
class RenewScriptTest {

    private static RedisServer server;
    private TestClient client;
    private String holder;

    @BeforeAll
    static void startServer() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void hold() {
        server.command("FLUSHALL");
        client = new TestClient(server.uri());
        holder = client.hold("n"); // 30 s
    }

    @AfterEach
    void close() {
        client.close();
    }

    @Test
    void aPlainRenewalOnlyLengthens() {
        assertThat(client.renew("n", holder, 5_000)).isInstanceOf(Renewed.class);
        assertRemaining(30_000);
        assertThat(client.renew("n", holder, 60_000)).isInstanceOf(Renewed.class);
        assertRemaining(60_000);
    }

    @Test
    void anExactOneAlsoShortens() {
        assertThat(client.renew("n", holder, 5_000, 1, true)).isInstanceOf(Renewed.class);
        assertRemaining(5_000);
        assertThat(client.renew("n", holder, 90_000, 2, true)).isInstanceOf(Renewed.class);
        assertRemaining(90_000);
    }

    @Test
    void lateOnesAreSuperseded() {
        client.renew("n", holder, 5_000, 2, true);
        assertThat(client.renew("n", holder, 60_000, 1, true)).isEqualTo(new Superseded());
        assertThat(client.renew("n", holder, 60_000, 1, false)).isEqualTo(new Superseded());
        assertThat(client.renew("n", holder, 60_000, 0, false)).isEqualTo(new Superseded());
        assertRemaining(5_000);
        assertThat(client.renew("n", holder, 60_000, 2, false)).isInstanceOf(Renewed.class);
        assertRemaining(60_000);
    }

    /** Its sender may count from the second sending: so it must not hear "for at least that long". */
    @Test
    void anExactOneAgainChangesNothingAndPromisesNothing() throws Exception {
        client.renew("n", holder, 5_000, 1, true);
        Thread.sleep(50);
        long before = client.inspect("n").remainingMillis();
        assertThat(client.renew("n", holder, 5_000, 1, true)).isEqualTo(new Superseded());
        assertThat(client.inspect("n").remainingMillis()).isLessThanOrEqualTo(before);
    }

    /** Lengthened since then: the repetition must not shorten it again. */
    @Test
    void anExactOneAgainAfterARenewalDoesNotShorten() {
        client.renew("n", holder, 5_000, 1, true);
        client.renew("n", holder, 60_000, 1, false);
        assertThat(client.renew("n", holder, 5_000, 1, true)).isInstanceOf(Renewed.class);
        assertRemaining(60_000);
    }

    /** Sent before the renewal, executed after it: it would take back what the renewal's sender was promised. */
    @Test
    void aSettingOvertakenByALaterRenewalIsNotMadeUpFor() {
        client.renew("n", holder, 60_000, 1, false);
        client.renew("n", holder, 5_000, 1, true);
        assertRemaining(60_000);
    }

    @Test
    void aLateAcquireDoesNotUndoASetting() {
        client.renew("n", holder, 5_000, 1, true);
        assertThat(client.acquire("n", holder, 30_000, true)).isInstanceOf(Granted.class);
        assertRemaining(5_000);
    }

    @Test
    void theSettingsAreThoseOfOneHold() {
        client.renew("n", holder, 5_000, 7, true);
        client.release("n", holder);
        holder = client.hold("n");
        assertThat(client.renew("n", holder, 9_000, 1, true)).isInstanceOf(Renewed.class);
        assertRemaining(9_000);
    }

    private void assertRemaining(long millis) {
        assertThat(client.inspect("n").remainingMillis()).isBetween(millis - 2_000, millis);
    }
}
