package io.holdfast.console.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockStoreException;
import io.holdfast.console.LockPicture;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One reader for all browsers. */
@Timeout(30)
class PictureFeedTest {

    private static final Duration NEVER = Duration.ofHours(1);
    private static final Duration SOON = Duration.ofMillis(10);

    /** The names of each look. */
    private final BlockingQueue<Collection<String>> looks = new LinkedBlockingQueue<>();

    private volatile @Nullable RuntimeException failure;
    private @Nullable PictureFeed feed;

    private PictureFeed feed(Duration interval, Duration silenceMax) {
        PictureFeed made = new PictureFeed(this::look, interval, silenceMax);
        feed = made;
        return made;
    }

    private LockPicture look(Collection<String> names) {
        looks.add(List.copyOf(names));
        RuntimeException thrown = failure;
        if (thrown != null) {
            throw thrown;
        }
        return new LockPicture(List.of(), List.of(), List.of(), List.of(), List.of(), Duration.ofSeconds(5), 0);
    }

    @AfterEach
    void close() {
        if (feed != null) {
            feed.close();
        }
    }

    @Test
    void oneLookServesAllBrowsers() throws InterruptedException {
        PictureFeed one = feed(NEVER, NEVER);
        EventStream first = one.open("hello", null, null).orElseThrow();
        assertThat(first.next()).isEqualTo("hello");
        String picture = first.next();
        assertThat(picture).startsWith("event: picture\n");
        EventStream second = one.open("hello again", null, null).orElseThrow();
        assertThat(second.next()).isEqualTo("hello again");
        assertThat(second.next()).isSameAs(picture);
        assertThat(looks).hasSize(1);
    }

    @Test
    void aNewNameIsLookedAtAtOnceTogetherWithThoseOfOthers() throws InterruptedException {
        PictureFeed one = feed(NEVER, NEVER);
        EventStream first = one.open("", "a", null).orElseThrow();
        assertThat(looks.poll(20, TimeUnit.SECONDS)).containsExactly("a");
        EventStream second = one.open("", "b", null).orElseThrow();
        assertThat(looks.poll(20, TimeUnit.SECONDS)).containsExactlyInAnyOrder("a", "b");
        assertThat(first).isNotSameAs(second);
    }

    @Test
    void nobodyReadsTheStoreWhileNobodyLooks() throws InterruptedException {
        PictureFeed one = feed(SOON, NEVER);
        EventStream stream = one.open("", null, null).orElseThrow();
        stream.next();
        stream.next();
        assertThat(stream.next()).startsWith("event: picture\n");
        stream.close();
        assertThat(stream.next()).isNull();
        looks.clear();
        // One look may be under way.
        Thread.sleep(200);
        assertThat(looks).hasSizeLessThanOrEqualTo(1);
        looks.clear();

        EventStream another = one.open("", null, null).orElseThrow();
        another.next();
        assertThat(another.next()).startsWith("event: picture\n");
    }

    @Test
    void aFailureIsAnEventAndTheReaderGoesOn() throws InterruptedException {
        failure = new LockStoreException("redis://h:1 does not answer", "redis://h:1", null);
        EventStream stream = feed(SOON, NEVER).open("", null, null).orElseThrow();
        stream.next();
        assertThat(stream.next()).isEqualTo("event: failed\ndata: {\"message\":\"redis://h:1 does not answer\"}\n\n");
        failure = null;
        String next = stream.next();
        while (next != null && next.startsWith("event: failed")) {
            next = stream.next();
        }
        assertThat(next).startsWith("event: picture\n");
    }

    @Test
    void aSilentStreamHasComments() throws InterruptedException {
        EventStream stream = feed(NEVER, SOON).open("", null, null).orElseThrow();
        stream.next();
        String next = stream.next();
        while (":\n\n".equals(next)) {
            next = stream.next();
        }
        assertThat(next).startsWith("event: picture\n");
        assertThat(stream.next()).isEqualTo(":\n\n");
    }

    @Test
    void streamsAreBoundedAndEndWithTheFeed() throws InterruptedException {
        PictureFeed one = feed(NEVER, NEVER);
        List<EventStream> streams = new ArrayList<>();
        for (int i = 0; i < PictureFeed.STREAMS_MAX; i++) {
            streams.add(one.open("", null, null).orElseThrow());
        }
        assertThat(one.open("", null, null)).isEmpty();
        streams.remove(0).close();
        streams.add(one.open("", null, null).orElseThrow());
        one.close();
        for (EventStream stream : streams) {
            String next = stream.next();
            while (next != null) {
                next = stream.next();
            }
        }
        assertThat(one.open("", null, null)).isEmpty();
    }
}
