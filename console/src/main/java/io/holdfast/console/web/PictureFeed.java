package io.holdfast.console.web;

import io.holdfast.LockException;
import io.holdfast.console.LockPicture;
import io.holdfast.console.json.Json;
import io.holdfast.spi.DaemonThreads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Reads the store for all browsers, by one thread, while at least one of them listens. */
final class PictureFeed implements AutoCloseable {

    static final int STREAMS_MAX = 16;

    private static final System.Logger LOG = System.getLogger("io.holdfast.console");

    private static final String COMMENT = ":\n\n";

    private final Function<Collection<String>, LockPicture> look;
    private final Duration interval;
    private final Duration silenceMax;

    private final ReentrantLock mutex = new ReentrantLock();
    private final Condition published = mutex.newCondition();
    private final Condition changed = mutex.newCondition();
    private final List<Stream> streams = new ArrayList<>();
    private @Nullable Thread reader;
    private @Nullable String latest;
    private boolean hasNewWish;
    private boolean closed;

    /**
     * @param look looks at the store, and asks about these names in any case; called by one thread at a time
     * @param interval the time between two looks
     * @param silenceMax the time without an event after which a stream gets a comment
     */
    PictureFeed(Function<Collection<String>, LockPicture> look, Duration interval, Duration silenceMax) {
        this.look = look;
        this.interval = interval;
        this.silenceMax = silenceMax;
    }

    /**
     * Opens a stream; empty if too many are open, or if the feed is closed.
     *
     * @param first the event that comes before all others
     * @param name a lock that the browser shows, about which the store is asked in any case
     * @param filter a text of which the browser shows the locks, even if others are more urgent
     */
    Optional<EventStream> open(String first, @Nullable String name, @Nullable String filter) {
        mutex.lock();
        try {
            if (closed || streams.size() >= STREAMS_MAX) {
                return Optional.empty();
            }
            Stream stream = new Stream(first, name, filter);
            streams.add(stream);
            if (reader == null) {
                reader = DaemonThreads.unstarted("holdfast-console", this::read);
                reader.start();
            } else if (name != null || filter != null) {
                hasNewWish = true;
                changed.signal();
            }
            return Optional.of(stream);
        } finally {
            mutex.unlock();
        }
    }

    /** Ends all streams; the feed opens no more. */
    @Override
    public void close() {
        mutex.lock();
        try {
            closed = true;
            List.copyOf(streams).forEach(Stream::close);
        } finally {
            mutex.unlock();
        }
    }

    private void read() {
        try {
            for (Wishes wishes = wishes(); wishes != null; wishes = wishes()) {
                publish(event(wishes));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // nobody does this; the thread ends
        } finally {
            stopped();
        }
    }

    /** What browsers show beside the most urgent locks. */
    private record Wishes(Set<String> names, Set<String> filters) {}

    /** Returns what browsers show; null if no browser listens, so that the reader ends. */
    private @Nullable Wishes wishes() {
        mutex.lock();
        try {
            if (streams.isEmpty()) {
                reader = null;
                latest = null;
                return null;
            }
            Wishes wishes = new Wishes(new HashSet<>(), new HashSet<>());
            for (Stream stream : streams) {
                if (stream.name != null) {
                    wishes.names().add(stream.name);
                }
                if (stream.filter != null) {
                    wishes.filters().add(stream.filter);
                }
            }
            return wishes;
        } finally {
            mutex.unlock();
        }
    }

    private String event(Wishes wishes) {
        try {
            LockPicture picture = look.apply(wishes.names());
            return event("picture", PictureJson.of(picture, wishes.names(), wishes.filters()));
        } catch (LockException e) {
            return event("failed", Json.object("message", e.getMessage()));
        } catch (RuntimeException e) {
            LOG.log(System.Logger.Level.WARNING, "The locks could not be read for the page", e);
            return event("failed", Json.object("message", e.toString()));
        }
    }

    /** Returns an event as a browser reads it. */
    static String event(String type, @Nullable Object data) {
        return "event: " + type + "\ndata: " + Json.text(data) + "\n\n";
    }

    private void publish(String event) throws InterruptedException {
        mutex.lock();
        try {
            latest = event;
            published.signalAll();
            long left = interval.toNanos();
            while (!hasNewWish && !streams.isEmpty() && left > 0) {
                left = changed.awaitNanos(left);
            }
            hasNewWish = false;
        } finally {
            mutex.unlock();
        }
    }

    /** After an error, no stream must wait for events that never come; browsers open new ones. */
    private void stopped() {
        mutex.lock();
        try {
            if (Thread.currentThread().equals(reader)) {
                reader = null;
                latest = null;
                List.copyOf(streams).forEach(Stream::close);
            }
        } finally {
            mutex.unlock();
        }
    }

    private final class Stream implements EventStream {

        private final @Nullable String name;
        private final @Nullable String filter;
        private @Nullable String first;
        private @Nullable String seen;
        private boolean ended;

        Stream(String first, @Nullable String name, @Nullable String filter) {
            this.first = first;
            this.name = name;
            this.filter = filter;
        }

        @Override
        @SuppressWarnings("ReferenceEquality") // two events with the same text are two events
        public @Nullable String next() throws InterruptedException {
            mutex.lock();
            try {
                String begin = first;
                if (begin != null) {
                    first = null;
                    return begin;
                }
                long left = silenceMax.toNanos();
                while (!ended && (latest == null || latest == seen)) {
                    if (left <= 0) {
                        return COMMENT;
                    }
                    left = published.awaitNanos(left);
                }
                seen = latest;
                return ended ? null : latest;
            } finally {
                mutex.unlock();
            }
        }

        @Override
        public void close() {
            mutex.lock();
            try {
                ended = true;
                streams.remove(this);
                published.signalAll();
                if (streams.isEmpty()) {
                    changed.signal();
                }
            } finally {
                mutex.unlock();
            }
        }
    }
}
