package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

class OverlapDetectorTest {

    private final OverlapDetector detector = new OverlapDetector("order:1");

    @Test
    void oneAfterTheOtherWithGrowingTokensIsClean() {
        for (long token : new long[] {5, 6, 99}) {
            detector.enter(token);
            detector.leave();
        }
        assertThat(detector.violations()).isEmpty();
        assertThat(detector.entries()).isEqualTo(3);
        detector.assertClean();
    }

    @Test
    void twoInsideAtOnceAreAnOverlap() {
        detector.enter(1);
        detector.enter(2);
        detector.leave();
        detector.leave();
        assertThat(detector.violations())
                .singleElement()
                .asString()
                .contains("order:1", "token 2", "token 1", "inside");
        assertThatThrownBy(detector::assertClean)
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("token 2");
    }

    @Test
    void anEqualTokenIsAViolation() {
        detector.enter(7);
        detector.leave();
        detector.enter(7);
        assertThat(detector.violations()).singleElement().asString().contains("came after token 7");
    }

    @Test
    void aSmallerTokenIsAViolation() {
        detector.enter(7);
        detector.leave();
        detector.enter(6);
        assertThat(detector.violations()).hasSize(1);
    }

    @Test
    void theFirstTokenMayBeAnyNumber() {
        detector.enter(-3);
        detector.assertClean();
    }

    @Test
    void leavingUnenteredIsAViolation() {
        detector.leave();
        assertThat(detector.violations()).hasSize(1);
    }

    @Test
    void manyViolationsAreCountedAndSomeKept() {
        for (int i = 0; i < 500; i++) {
            detector.enter(1);
        }
        assertThat(detector.violations()).hasSize(100);
        assertThatThrownBy(detector::assertClean).hasMessageContaining("998 violations in 500 entries");
    }

    @Test
    void threadsUnderARealLockAreClean() throws Exception {
        ReentrantLock lock = new ReentrantLock();
        AtomicLong tokens = new AtomicLong();
        inFourThreads(() -> {
            for (int i = 0; i < 200; i++) {
                lock.lock();
                try {
                    detector.enter(tokens.incrementAndGet());
                    detector.leave();
                } finally {
                    lock.unlock();
                }
            }
        });
        detector.assertClean();
        assertThat(detector.entries()).isEqualTo(800);
    }

    @Test
    void threadsThatMeetInsideAreFound() throws Exception {
        CyclicBarrier inside = new CyclicBarrier(4);
        AtomicLong tokens = new AtomicLong();
        inFourThreads(() -> {
            detector.enter(tokens.incrementAndGet());
            inside.await();
            detector.leave();
        });
        assertThat(detector.violations())
                .filteredOn(sentence -> sentence.contains("inside"))
                .hasSize(3);
    }

    private interface Body {
        void run() throws Exception;
    }

    private static void inFourThreads(Body body) throws InterruptedException {
        List<Throwable> failures = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Thread thread = new Thread(() -> {
                try {
                    body.run();
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            });
            thread.setUncaughtExceptionHandler((t, e) -> failures.add(e));
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join(10_000);
        }
        assertThat(failures).isEmpty();
    }
}
