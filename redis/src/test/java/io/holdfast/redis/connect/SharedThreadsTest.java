package io.holdfast.redis.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lettuce.core.resource.ClientResources;
import org.junit.jupiter.api.Test;

public class SharedThreadsTest {

    @Test
    void areThereForAsLongAsSomebodyUsesThem() {
        SharedThreads threads = new SharedThreads();
        ClientResources first = threads.join();
        assertThat(threads.join()).isSameAs(first);
        threads.leave();
        assertThat(first.eventExecutorGroup().isShuttingDown()).isFalse();
        threads.leave();
        await().until(() -> first.eventExecutorGroup().isShuttingDown());
        // A member that is opened again later.
        ClientResources second = threads.join();
        assertThat(second).isNotSameAs(first);
        assertThat(second.eventExecutorGroup().isShuttingDown()).isFalse();
        threads.leave();
    }
}
