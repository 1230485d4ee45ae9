package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** An application that ended leaves memory, though Holdfast began threads for it. */
class UndeployedTest {

    /** Runs in a class loader of its own, like the classes of a web application. */
    public static final class Application implements Runnable {

        @Override
        public void run() {
            try (LockClient locks = LockClient.connect("memory:undeployed")) {
                locks.acquire("a").release();
                CountDownLatch lost = new CountDownLatch(1);
                Lease lease = locks.acquire("b");
                lease.onLost(lost::countDown);
                locks.forceRelease("b");
                lost.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static URL urlOf(Class<?> type) {
        return type.getProtectionDomain().getCodeSource().getLocation();
    }

    private static WeakReference<ClassLoader> runIn(URLClassLoader application) throws Exception {
        Runnable run = (Runnable) application
                .loadClass(Application.class.getName())
                .getConstructor()
                .newInstance();
        Thread thread = new Thread(run);
        thread.setContextClassLoader(application);
        thread.start();
        thread.join();
        application.close();
        return new WeakReference<>(application);
    }

    private static void awaitGone(List<WeakReference<ClassLoader>> loaders) {
        await().atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(200))
                .until(() -> {
                    System.gc();
                    return loaders.stream().allMatch(loader -> loader.get() == null);
                });
    }

    @Test
    @Tag("deep") // quick: the test below
    void with_holdfast_of_its_own() throws Exception {
        List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            loaders.add(runIn(new URLClassLoader(
                    new URL[] {urlOf(LockClient.class), urlOf(UndeployedTest.class)},
                    ClassLoader.getPlatformClassLoader())));
        }
        awaitGone(loaders);
    }

    /** The threads are those of all applications, and began in a call of the one that ends. */
    @Test
    void with_a_holdfast_that_others_go_on_to_use() throws Exception {
        URLClassLoader shared =
                new URLClassLoader(new URL[] {urlOf(LockClient.class)}, ClassLoader.getPlatformClassLoader());
        WeakReference<ClassLoader> first = runIn(child(shared));
        Class<?> clients = shared.loadClass(LockClient.class.getName());
        Object client = clients.getMethod("connect", String.class).invoke(null, "memory:other");
        Object lease = clients.getMethod("acquire", String.class).invoke(client, "a");
        WeakReference<ClassLoader> second = runIn(child(shared));

        awaitGone(List.of(first, second));
        assertThat(Collections.list(
                        Collections.enumeration(Thread.getAllStackTraces().keySet())))
                .filteredOn(thread -> thread.getName().equals("holdfast-timer"))
                .anyMatch(thread -> thread.getContextClassLoader() == shared);
        assertThat(lease).isNotNull();
        clients.getMethod("close").invoke(client);
        shared.close();
    }

    private static URLClassLoader child(ClassLoader shared) throws IOException {
        return new URLClassLoader(new URL[] {urlOf(UndeployedTest.class)}, shared);
    }
}
