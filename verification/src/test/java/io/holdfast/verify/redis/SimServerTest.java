package io.holdfast.verify.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.engine.PoolBug;
import io.holdfast.memory.VirtualTime;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class SimServerTest {

    private final VirtualTime world = new VirtualTime();
    private final SimServer server = new SimServer(world, ScriptBug.NONE, PoolBug.NONE, true, false, 0);

    /** Seed 4559 had a clock that went back by more than the outage had lasted: that is not promised to be safe. */
    @Test
    void an_outage_that_begins_during_another_lasts_as_long_as_it_says() {
        server.crash(false, Duration.ofMillis(18).toNanos());
        server.failOver(Duration.ofMillis(1_652).toNanos(), 0);
        world.advance(Duration.ofMillis(1_651));
        assertThat(server.isDown()).isTrue();
        world.advance(Duration.ofMillis(1));
        assertThat(server.isDown()).isFalse();
    }
}
