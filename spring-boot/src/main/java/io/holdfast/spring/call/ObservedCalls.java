package io.holdfast.spring.call;

import io.holdfast.spring.declaration.LockedOperation;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * An observation for each call, from before the wait to after the release; the event {@code acquired} parts the two. The key is of high
 * cardinality: it goes to traces, never to meters.
 */
public final class ObservedCalls implements CallWatch.Source {

    private final ObservationRegistry registry;

    public ObservedCalls(ObservationRegistry registry) {
        this.registry = registry;
    }

    @Override
    public CallWatch begin(LockedOperation operation, Collection<String> names) {
        Observation observation = Observation.createNotStarted("holdfast.locked", registry)
                .contextualName("locked " + operation.label())
                .lowCardinalityKeyValue("name", operation.label())
                .lowCardinalityKeyValue("outcome", "none")
                .highCardinalityKeyValue("lock.names", String.join(",", names))
                .start();
        AtomicBoolean over = new AtomicBoolean();
        return new CallWatch() {
            @Override
            public void acquired() {
                observation.event(Observation.Event.of("acquired"));
            }

            @Override
            public void ended(String outcome, @Nullable Throwable error) {
                if (over.compareAndSet(false, true)) {
                    observation.lowCardinalityKeyValue("outcome", outcome);
                    if (error != null) {
                        observation.error(error);
                    }
                    observation.stop();
                }
            }
        };
    }
}
