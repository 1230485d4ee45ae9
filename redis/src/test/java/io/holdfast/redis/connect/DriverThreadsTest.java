package io.holdfast.redis.connect;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.DaemonThreads;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class DriverThreadsTest {

    @Test
    void a_thread_of_the_driver_keeps_nothing_of_the_caller_that_opened_a_store() throws Exception {
        InheritableThreadLocal<String> local = new InheritableThreadLocal<>();
        Thread caller = Thread.currentThread();
        ClassLoader before = caller.getContextClassLoader();
        CompletableFuture<String> seen = new CompletableFuture<>();
        try (URLClassLoader application = new URLClassLoader(new URL[0], before)) {
            caller.setContextClassLoader(application);
            local.set("of the caller");
            Thread made = new DriverThreads("lettuce-nioEventLoop")
                    .newThread(() -> seen.complete(String.valueOf(local.get())));
            assertThat(made).isInstanceOf(FastThreadLocalThread.class);
            assertThat(made.getName()).startsWith("holdfast-redis-nioEventLoop-");
            assertThat(made.isDaemon()).isTrue();
            assertThat(made.getContextClassLoader()).isSameAs(DaemonThreads.class.getClassLoader());
            made.start();
            assertThat(seen.get()).isEqualTo("null");
        } finally {
            local.remove();
            caller.setContextClassLoader(before);
        }
    }
}
