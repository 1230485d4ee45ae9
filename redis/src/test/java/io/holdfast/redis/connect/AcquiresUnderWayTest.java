package io.holdfast.redis.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.holdfast.spi.AcquireReply;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** The engine asks again under the same id: it must not wait forever for what has never begun. */
public class AcquiresUnderWayTest {

    private static CompletionStage<AcquireReply> broken() {
        throw new NoClassDefFoundError("a class of the driver");
    }

    @Test
    void anErrorEndsTheAcquire() {
        AcquiresUnderWay underWay = new AcquiresUnderWay();
        assertIsBroken(underWay.next("a:1", AcquiresUnderWayTest::broken));
        assertThat(underWay.of("a:1")).isNull();
        AcquireReply reply = new AcquireReply.Granted(1, 0);
        assertThat(underWay.next("a:1", () -> CompletableFuture.completedFuture(reply)))
                .isCompletedWithValue(reply);
        assertThat(underWay.size()).isZero();
    }

    @Test
    void acquiresOfOneIdFollowEachOther() {
        AcquiresUnderWay underWay = new AcquiresUnderWay();
        CompletableFuture<String> first = new CompletableFuture<>();
        CompletableFuture<String> second = new CompletableFuture<>();
        CompletionStage<String> one = underWay.next("a:1", () -> first);
        CompletionStage<String> two = underWay.next("a:1", () -> {
            assertThat(one).isCompleted();
            return second;
        });
        first.complete("one");
        assertThat(one).isCompletedWithValue("one");
        assertThat(underWay.of("a:1")).isSameAs(two);
        second.complete("two");
        assertThat(two).isCompletedWithValue("two");
        assertThat(underWay.size()).isZero();
    }

    private static void assertIsBroken(CompletionStage<AcquireReply> answer) {
        assertThat(answer.toCompletableFuture()).isCompletedExceptionally();
        assertThat(catchThrowable(() -> answer.toCompletableFuture().join()))
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(NoClassDefFoundError.class);
    }
}
