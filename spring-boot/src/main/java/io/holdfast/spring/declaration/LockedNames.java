package io.holdfast.spring.declaration;

import io.holdfast.spring.Locked;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The names of {@link Locked} methods, as they become known when their beans are made: what meters may use as a tag. */
public final class LockedNames {

    private final ReentrantLock lock = new ReentrantLock();
    private final Set<String> names = new HashSet<>(); // by lock
    private @Nullable Consumer<String> listener; // by lock

    public LockedNames() {}

    public void add(String name) {
        lock.lock();
        try {
            if (names.add(name) && listener != null) {
                listener.accept(name);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Tells each name that is known or becomes known, once. For one receiver. */
    public void onEach(Consumer<String> receiver) {
        lock.lock();
        try {
            listener = receiver;
            names.forEach(receiver);
        } finally {
            lock.unlock();
        }
    }
}
