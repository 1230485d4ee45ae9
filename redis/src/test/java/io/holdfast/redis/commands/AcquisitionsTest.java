package io.holdfast.redis.commands;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.holdfast.spi.AcquireReply;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** The engine asks again under the same id: it must not wait for ever for what has never begun. */
public class AcquisitionsTest {

    private static CompletionStage<AcquireReply> broken() {
        throw new NoClassDefFoundError("a class of the driver");
    }

    @Test
    void anErrorEndsTheAcquisition() {
        Acquisitions acquisitions = new Acquisitions();
        assertIsBroken(acquisitions.next("a:1", AcquisitionsTest::broken));
        AcquireReply reply = new AcquireReply.Granted(1, 0);
        assertThat(acquisitions.next("a:1", () -> CompletableFuture.completedFuture(reply)))
                .isCompletedWithValue(reply);
        assertThat(acquisitions.size()).isZero();
    }

    private static void assertIsBroken(CompletionStage<AcquireReply> answer) {
        assertThat(answer.toCompletableFuture()).isCompletedExceptionally();
        assertThat(catchThrowable(() -> answer.toCompletableFuture().join()))
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(NoClassDefFoundError.class);
    }
}
