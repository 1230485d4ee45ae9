package io.holdfast.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.net.URLClassLoader;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import org.junit.jupiter.api.Test;

class DaemonThreadsTest {

    @Test
    @SuppressWarnings("ThreadPriorityCheck") // a priority is what is tested
    void a_thread_keeps_nothing_of_the_thread_that_makes_it() throws Exception {
        InheritableThreadLocal<String> local = new InheritableThreadLocal<>();
        Thread caller = Thread.currentThread();
        ClassLoader before = caller.getContextClassLoader();
        CompletableFuture<String> seen = new CompletableFuture<>();
        try (URLClassLoader application = new URLClassLoader(new URL[0], before)) {
            caller.setContextClassLoader(application);
            caller.setPriority(Thread.MIN_PRIORITY);
            local.set("of the caller");
            Thread made = DaemonThreads.unstarted("mine", () -> seen.complete(String.valueOf(local.get())));
            assertThat(made.getContextClassLoader()).isSameAs(DaemonThreads.class.getClassLoader());
            assertThat(made.getName()).isEqualTo("mine");
            assertThat(made.isDaemon()).isTrue();
            assertThat(made.getPriority()).isEqualTo(Thread.NORM_PRIORITY);
            made.start();
            assertThat(seen.get()).isEqualTo("null");
        } finally {
            local.remove();
            caller.setPriority(Thread.NORM_PRIORITY);
            caller.setContextClassLoader(before);
        }
    }

    @Test
    void a_factory_numbers_its_threads() {
        ThreadFactory threads = DaemonThreads.factory("mine");
        assertThat(threads.newThread(() -> {}).getName()).isEqualTo("mine-1");
        assertThat(threads.newThread(() -> {}).getName()).isEqualTo("mine-2");
    }
}
