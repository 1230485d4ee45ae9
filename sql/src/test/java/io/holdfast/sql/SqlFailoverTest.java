package io.holdfast.sql;

import io.holdfast.Lease;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A standby of PostgreSQL takes over, or is away. */
@Tag("deep")
class SqlFailoverTest {

    private PostgresPair pair;

    @BeforeEach
    void start() throws Exception {
        pair = new PostgresPair();
    }

    @AfterEach
    void end() {
        pair.close();
    }

    @Test
    void a_synchronous_standby_has_every_hold() throws Exception {
        pair.makeSynchronous();
        try (Kept kept = new Kept(pair.url());
                Crew crew = new Crew(pair.url())) {
            crew.awaitProgress();
            pair.primary.kill();
            pair.promote();
            crew.awaitProgress();
            kept.assertKept();
        }
    }

    /** A take that no standby has is no take: the lock is granted to nobody until the standby is back. */
    @Test
    void a_synchronous_standby_that_is_away_lets_nobody_take_a_lock() throws Exception {
        pair.makeSynchronous();
        try (Kept kept = new Kept(pair.url());
                Crew crew = new Crew(pair.url())) {
            crew.awaitProgress();
            pair.standby.pause();
            try {
                crew.awaitError("did not answer within");
            } finally {
                pair.standby.resume();
            }
            crew.awaitProgress();
            kept.assertKept();
        }
    }

    /** Such a standby may forget a hold. Its holder hears of that, and tokens grow. */
    @Test
    void an_asynchronous_standby_forgets_what_it_had_not_received() throws Exception {
        try (Forgotten forgotten = new Forgotten(pair.url())) {
            // A stopped one would still read what has arrived.
            pair.standby.kill();
            Lease lease = forgotten.take();
            pair.primary.kill();
            pair.standby.restart();
            pair.promote();
            forgotten.assertForgotten(lease);
        }
    }
}
