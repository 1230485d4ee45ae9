package io.holdfast.spring.declaration;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Looks a bean up at its first use, and keeps it. It takes no lock, because a lookup may wait for Spring's lock of the
 * singletons, whose owner may need the same bean. Threads that come at the same time each look it up, and all get the
 * bean that was found first.
 */
public final class LazyBean<T> implements Supplier<T> {

    private final Supplier<? extends T> lookup;
    private final AtomicReference<@Nullable T> bean = new AtomicReference<>();

    public LazyBean(Supplier<? extends T> lookup) {
        this.lookup = lookup;
    }

    @Override
    public T get() {
        T known = bean.get();
        if (known != null) {
            return known;
        }
        T found = lookup.get();
        T first = bean.compareAndExchange(null, found);
        return first != null ? first : found;
    }
}
