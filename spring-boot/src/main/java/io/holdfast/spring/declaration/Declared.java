package io.holdfast.spring.declaration;

import io.holdfast.spring.Idempotent;
import io.holdfast.spring.IdempotentRequest;
import io.holdfast.spring.Limited;
import io.holdfast.spring.LockFailureHandler;
import io.holdfast.spring.Locked;
import io.holdfast.spring.OnBusy;
import io.holdfast.spring.OnLost;
import io.holdfast.spring.OnceRecord;
import java.lang.reflect.AnnotatedElement;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/**
 * One {@link Locked}, {@link Limited} or {@link Idempotent} annotation, as it is written.
 *
 * @param permits empty for a lock
 * @param weight empty for a lock
 * @param once null for work that is done at each call
 */
record Declared(
        Kind kind,
        String name,
        List<String> key,
        boolean join,
        String condition,
        String permits,
        String weight,
        String waitTime,
        String leaseTime,
        String holdAtMost,
        String holdAtLeast,
        OnBusy onBusy,
        String fallback,
        Class<? extends LockFailureHandler> failureHandler,
        OnLost onLost,
        String client,
        @Nullable OnceText once) {

    /** What only work that is done once has, as it is written. */
    record OnceText(String keepFor, String fingerprint, String transactionManager, OnceRecord record) {}

    /** The types of annotations, in the order in which one call acquires what they declare. */
    static final List<Class<?>> TYPES = List.of(Locked.class, Limited.class, Idempotent.class, IdempotentRequest.class);

    /** Returns the annotations on the element itself, or on what it overrides; without repetition. */
    static List<Declared> on(AnnotatedElement element) {
        MergedAnnotations all = MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY);
        return Stream.of(
                        all.stream(Locked.class)
                                .map(MergedAnnotation::synthesize)
                                .map(Declared::of),
                        all.stream(Limited.class)
                                .map(MergedAnnotation::synthesize)
                                .map(Declared::of),
                        all.stream(Idempotent.class)
                                .map(MergedAnnotation::synthesize)
                                .map(Declared::of),
                        all.stream(IdempotentRequest.class)
                                .map(MergedAnnotation::synthesize)
                                .map(Declared::of))
                .flatMap(each -> each)
                .distinct()
                .toList();
    }

    /** Returns those of one annotation type. */
    static List<Declared> of(Class<?> annotation, List<Declared> all) {
        return all.stream().filter(each -> each.kind.annotation == annotation).toList();
    }

    /** Returns what several annotations on one method must agree in. */
    Declared shared() {
        return new Declared(
                kind,
                "",
                List.of(),
                false,
                "",
                permits,
                weight,
                waitTime,
                leaseTime,
                holdAtMost,
                holdAtLeast,
                onBusy,
                fallback,
                failureHandler,
                onLost,
                client,
                once);
    }

    private static Declared of(Locked locked) {
        return new Declared(
                switch (locked.mode()) {
                    case EXCLUSIVE -> Kind.LOCK;
                    case READ -> Kind.READ;
                    case WRITE -> Kind.WRITE;
                },
                locked.name(),
                List.of(locked.key()),
                locked.join(),
                locked.condition(),
                "",
                "",
                locked.waitTime(),
                locked.leaseTime(),
                locked.holdAtMost(),
                locked.holdAtLeast(),
                locked.onBusy(),
                locked.fallback(),
                locked.failureHandler(),
                locked.onLost(),
                locked.client(),
                null);
    }

    private static Declared of(Limited limited) {
        return new Declared(
                Kind.PERMITS,
                limited.name(),
                List.of(limited.key()),
                true,
                limited.condition(),
                limited.permits(),
                limited.weight(),
                limited.waitTime(),
                limited.leaseTime(),
                limited.holdAtMost(),
                limited.holdAtLeast(),
                limited.onBusy(),
                limited.fallback(),
                limited.failureHandler(),
                limited.onLost(),
                limited.client(),
                null);
    }

    private static Declared of(Idempotent once) {
        return once(
                Kind.ONCE,
                once.name(),
                List.of(once.key()),
                once.waitTime(),
                once.client(),
                new OnceText(once.keepFor(), once.fingerprint(), once.transactionManager(), once.record()));
    }

    /** The name is the same for all methods: the path of the request follows, and the class and method may change. */
    private static Declared of(IdempotentRequest once) {
        return once(
                Kind.REQUEST,
                "idempotent-request",
                List.of(),
                once.waitTime(),
                once.client(),
                new OnceText(once.keepFor(), "", once.transactionManager(), once.record()));
    }

    private static Declared once(
            Kind kind, String name, List<String> key, String waitTime, String client, OnceText text) {
        return new Declared(
                kind,
                name,
                key,
                true,
                "",
                "",
                "",
                waitTime,
                "",
                "",
                "",
                OnBusy.THROW,
                "",
                LockFailureHandler.class,
                OnLost.THROW,
                client,
                text);
    }
}
