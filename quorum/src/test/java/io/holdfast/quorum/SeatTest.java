package io.holdfast.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.memory.VirtualTime;
import io.holdfast.quorum.memory.MemoryQuorumNode;
import io.holdfast.spi.StoreContext;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A member may be the code of anybody, so it may do anything. */
class SeatTest {

    private final Seat seat = new Seat(0, "m0", () -> {});

    @BeforeEach
    void occupy() {
        VirtualTime time = new VirtualTime();
        seat.occupy(new MemoryQuorumNode("m0", time).connect(new StoreContext("c", time)));
    }

    @Test
    void an_error_is_an_answer() {
        Function<QuorumMember, CompletionStage<Boolean>> broken = member -> {
            throw new NoClassDefFoundError("of another version");
        };
        assertThat(seat.send(broken).toCompletableFuture()).isCompletedExceptionally();
        assertThat(seat.sendAll(2, member -> {
                    throw new NoClassDefFoundError("of another version");
                }))
                .hasSize(2)
                .allMatch(stage -> stage.toCompletableFuture().isCompletedExceptionally());
    }

    @Test
    void no_stage_at_all_is_a_failure() {
        Function<QuorumMember, CompletionStage<Boolean>> forgetful = member -> null;
        assertThat(seat.send(forgetful).toCompletableFuture()).isCompletedExceptionally();
    }
}
