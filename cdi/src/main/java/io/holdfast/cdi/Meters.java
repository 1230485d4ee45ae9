package io.holdfast.cdi;

import io.holdfast.LockClient;
import io.holdfast.LockListener;
import io.holdfast.OnceOutcome;
import io.holdfast.Permits;
import io.holdfast.micrometer.HoldfastMetrics;
import io.micrometer.core.instrument.MeterRegistry;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.inject.Inject;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The meters of Micrometer, in an application that has a registry and holdfast-micrometer. Thread-safe. */
@ApplicationScoped
class Meters {

    private final @Nullable Registered registered;

    /** For the proxy of the container, which has no state. */
    Meters() {
        this.registered = null;
    }

    @Inject
    Meters(MarkedClasses classes, BeanManager beans) {
        this.registered = Settings.isPresent("io.holdfast.micrometer.HoldfastMetrics")
                ? Registered.find(classes, beans.createInstance())
                : null;
    }

    /** Returns the listener for the client of the settings; empty without meters. */
    Optional<LockListener> listener() {
        return Optional.ofNullable(registered).map(Registered::metrics);
    }

    /** Adds a client to the gauges. */
    void watch(LockClient client) {
        if (registered != null) {
            registered.metrics.watch(client);
        }
    }

    /** @param key the lock name */
    void ended(String key, OnceOutcome outcome) {
        if (registered != null) {
            registered.metrics.once(key, outcome);
        }
    }

    /** Loaded only where holdfast-micrometer is. */
    private record Registered(HoldfastMetrics metrics) {

        /** Returns null if there is no registry, or if there are several. */
        static @Nullable Registered find(MarkedClasses classes, Instance<Object> beans) {
            Instance<HoldfastMetrics> own = beans.select(HoldfastMetrics.class);
            if (own.isResolvable()) {
                return new Registered(own.get());
            }
            Instance<MeterRegistry> registry = beans.select(MeterRegistry.class);
            if (!registry.isResolvable()) {
                return null;
            }
            HoldfastMetrics metrics = new HoldfastMetrics(HoldfastMetrics.prefixes(names(classes)));
            metrics.bindTo(registry.get());
            return new Registered(metrics);
        }

        /** Returns the constant parts of the names that the marked methods lock. */
        private static Set<String> names(MarkedClasses classes) {
            Set<String> names = new HashSet<>();
            for (Class<?> each : classes.load()) {
                for (Marked marked : MethodReader.all(each)) {
                    for (LockedMethod method : marked.locks()) {
                        names.add(method.permits() == 0 ? method.name() : Permits.SHOWN_PREFIX + method.name());
                    }
                }
            }
            return names;
        }
    }
}
