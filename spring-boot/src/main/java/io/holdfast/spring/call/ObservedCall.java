package io.holdfast.spring.call;

import io.holdfast.LeaseLostException;
import io.holdfast.spring.declaration.Kind;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The observation of one call, from before the wait to after the release; the event {@code acquired} divides the two.
 * The full lock names have a high cardinality: traces show them, meters do not.
 */
final class ObservedCall {

    private final Observation observation;
    private final AtomicBoolean ended = new AtomicBoolean();

    /** @param label the part of the names that is the same for many calls */
    ObservedCall(ObservationRegistry registry, Kind kind, String label, Collection<String> names) {
        observation = Observation.createNotStarted("holdfast.locked", registry)
                .contextualName((kind == Kind.PERMITS ? "limited " : "locked ") + label)
                .lowCardinalityKeyValue("name", label)
                .lowCardinalityKeyValue("kind", kind.tag())
                .lowCardinalityKeyValue("outcome", "none")
                .highCardinalityKeyValue("lock.names", String.join(",", names))
                .start();
    }

    void acquired() {
        observation.event(Observation.Event.of("acquired"));
    }

    /** Ends a call whose method has run. */
    void ended(@Nullable Throwable failure) {
        ended(failure == null ? "completed" : failure instanceof LeaseLostException ? "lost" : "failed", failure);
    }

    /** Ends the observation. Idempotent: the first outcome counts. */
    void ended(String outcome, @Nullable Throwable error) {
        if (ended.compareAndSet(false, true)) {
            observation.lowCardinalityKeyValue("outcome", outcome);
            if (error != null) {
                observation.error(error);
            }
            observation.stop();
        }
    }
}
