package io.holdfast.samples.recipes;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LeaseLostException;
import io.holdfast.testkit.OverlapDetector;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

class LongJobTest {

    private static final Duration LEASE_TIME = Duration.ofMillis(1200);
    private static final Duration PAGE = Duration.ofMillis(100);

    private final OverlapDetector exports = new OverlapDetector("export");

    @Test
    void exports_that_take_longer_than_a_lease_follow_each_other() throws Exception {
        export(Fleet.of(2, LEASE_TIME));
        exports.assertClean();
    }

    @Test
    void without_the_lock_exports_overlap() throws Exception {
        export(Fleet.withoutCommonStore(2));
        assertThat(exports.violations()).isNotEmpty();
    }

    @Test
    void an_export_that_lost_its_lease_is_cancelled() throws Exception {
        try (Fleet fleet = Fleet.of(1)) {
            Endless export = new Endless();
            CompletableFuture<Void> running = CompletableFuture.runAsync(() -> {
                try {
                    new LongJob(fleet.node(0)).run(export);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            assertThat(export.began.await(10, SECONDS)).isTrue();
            fleet.node(0).forceRelease("export:orders");

            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(() -> running.get(10, SECONDS))
                    .withCauseInstanceOf(LeaseLostException.class);
            assertThat(export.pages).isEqualTo(1);
        }
    }

    @Test
    void no_page_is_written_under_a_lost_lease() throws Exception {
        try (Fleet fleet = Fleet.of(1)) {
            Pages export = new Pages(3) {
                @Override
                public void writeNextPage(long fencingToken) {
                    super.writeNextPage(fencingToken);
                    fleet.node(0).forceRelease("export:orders");
                }
            };
            assertThatThrownBy(() -> new LongJob(fleet.node(0)).run(export)).isInstanceOf(LeaseLostException.class);
            assertThat(export.written).isEqualTo(1);
        }
    }

    private void export(Fleet fleet) throws Exception {
        try (fleet) {
            fleet.all((locks, node) -> {
                new LongJob(locks).run(new Pages(LEASE_TIME.toMillis() / PAGE.toMillis() + 3));
                return null;
            });
        }
    }

    private class Pages implements LongJob.Export {

        private final long pages;
        int written;

        Pages(long pages) {
            this.pages = pages;
        }

        @Override
        public boolean hasNextPage() {
            return written < pages;
        }

        @Override
        public void writeNextPage(long fencingToken) {
            if (written == 0) {
                exports.enter(fencingToken);
            }
            Fleet.pause(PAGE);
            written++;
            if (written == pages) {
                exports.leave();
            }
        }

        @Override
        public void cancel() {}
    }

    /** Has one page that never ends. */
    private static final class Endless implements LongJob.Export {

        final CountDownLatch began = new CountDownLatch(1);
        private final CountDownLatch cancelled = new CountDownLatch(1);
        int pages;

        @Override
        public boolean hasNextPage() {
            return true;
        }

        @Override
        public void writeNextPage(long fencingToken) {
            pages++;
            began.countDown();
            try {
                cancelled.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void cancel() {
            cancelled.countDown();
        }
    }
}
