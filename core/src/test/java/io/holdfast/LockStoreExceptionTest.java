package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.holdfast.engine.EngineFixture;
import io.holdfast.engine.ProbeStore.Fate;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreException.Outcome;
import io.holdfast.store.Stores;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.ConnectException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

class LockStoreExceptionTest extends EngineFixture {

    private static StoreException refused(Outcome outcome) {
        Throwable driver = new ExecutionException(new IllegalStateException(
                "Unable to connect", new CompletionException(new ConnectException("Connection refused"))));
        return new StoreException(outcome, "redis://h:6379 cannot be reached: Connection refused (start it)", driver);
    }

    @Test
    void the_stack_has_the_sentence_once_and_then_the_first_cause() {
        LockStoreException e = catchThrowableOfType(
                LockStoreException.class,
                () -> Stores.open(
                        context -> {
                            throw refused(Outcome.NOT_EXECUTED);
                        },
                        client.engine().settings.context()));
        StringWriter stack = new StringWriter();
        e.printStackTrace(new PrintWriter(stack));

        assertThat(e).hasMessage("redis://h:6379 cannot be reached: Connection refused (start it)");
        assertThat(e.getCause()).isInstanceOf(ConnectException.class).hasMessage("Connection refused");
        assertThat(stack.toString().lines().filter(line -> line.contains("cannot be reached")))
                .hasSize(1);
        assertThat(stack.toString().lines().filter(line -> line.startsWith("Caused by")))
                .containsExactly("Caused by: java.net.ConnectException: Connection refused");
    }

    @Test
    void it_says_whether_trying_again_can_help() {
        store.acquires = Fate.FAIL;
        store.failure = refused(Outcome.NOT_EXECUTED);
        assertThat(failure().isFatal()).isFalse();
        assertThat(failure()).hasCauseInstanceOf(ConnectException.class);
        store.failure = new StoreException(Outcome.FATAL, "wrong password", null);
        assertThat(failure().isFatal()).isTrue();
        assertThat(failure()).hasNoCause();
    }

    private LockStoreException failure() {
        return catchThrowableOfType(LockStoreException.class, () -> client.tryAcquire("a"));
    }
}
