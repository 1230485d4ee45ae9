package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Runs tasks on real threads at the same time. */
final class Together {

    private Together() {}

    /** Runs each task on a thread of its own. Fails unless all of them return true. */
    static void assertAllTrue(List<Callable<Boolean>> tasks) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(tasks.size());
        try {
            for (Future<Boolean> each : threads.invokeAll(tasks)) {
                assertThat(each.get()).isTrue();
            }
        } finally {
            threads.shutdownNow();
        }
    }
}
