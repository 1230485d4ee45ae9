package io.holdfast.verify.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LeaderBug;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.engine.PoolBug;
import io.holdfast.engine.VerifyEngine;
import io.holdfast.engine.VerifyEngine.Rules;
import io.holdfast.verify.sql.SimSqlSite;
import io.holdfast.verify.sql.SqlBug;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the checks take for left behind when a client was closed under work that goes on. */
class LeftAtCloseTest {

    /** A history of leaders had reported it: a listener had not stopped in time. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void a_hold_that_stays_is_nothing_that_a_client_on_a_database_forgot(long seed) {
        Simulation simulation = new Simulation(seed, Rules.RIGHT, site -> new SimSqlSite(site, SqlBug.NONE));
        // In a season of rare events the acquire may fail, and this test is about its end.
        simulation.site.heal();
        SimProcess process = new SimProcess(
                "p0", simulation.world, simulation.site, new SplittableRandom(seed), Rules.RIGHT, PoolBug.NONE);
        CompletableFuture<Lease> lease = process.client
                .acquireAsync("a", LockOptions.defaults().leftAtClose())
                .toCompletableFuture();
        simulation.world.advance(Duration.ofSeconds(1));
        assertThat(lease).isCompleted();
        assertThat(process.left()).isNotEmpty();

        VerifyEngine.close(process.client, LeaderBug.NONE);
        simulation.world.advance(Duration.ofSeconds(10));
        assertThat(process.left()).isEmpty();
        simulation.site.end();
    }
}
