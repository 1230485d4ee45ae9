package io.holdfast.cdi;

import static io.holdfast.cdi.KeyTemplate.wrong;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.DurationText;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.inject.spi.DefinitionException;
import jakarta.inject.Inject;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;

/** Reads the annotations of methods, and refuses declarations that cannot work. */
final class MethodReader {

    /** Types whose work may go on, or only begin, after the method has returned. By name: most are optional. */
    private static final Set<String> WORK_GOES_ON = Set.of(
            "java.util.concurrent.Future",
            "java.util.concurrent.CompletionStage",
            "java.util.concurrent.Flow$Publisher",
            "java.util.concurrent.Callable",
            "org.reactivestreams.Publisher",
            "io.smallrye.mutiny.Uni",
            "kotlinx.coroutines.flow.Flow");

    private MethodReader() {}

    /**
     * Returns what the marked methods of a bean class declare, among them those that the class inherits.
     *
     * @throws DefinitionException if a declaration cannot work
     */
    static List<Marked> all(Class<?> beanClass) {
        List<Marked> read = new ArrayList<>();
        Set<String> overridden = new HashSet<>();
        for (Class<?> type = beanClass; type != null && type != Object.class; type = type.getSuperclass()) {
            for (Method method : type.getDeclaredMethods()) {
                boolean isOwn = Modifier.isPrivate(method.getModifiers())
                        || overridden.add(method.getName() + Arrays.toString(method.getParameterTypes()));
                Marked marked = isOwn && !method.isSynthetic() ? read(method, beanClass) : null;
                if (marked != null && !marked.isEmpty()) {
                    read.add(marked);
                }
            }
            for (Class<?> declares : type.getInterfaces()) {
                refuseInterface(declares);
            }
        }
        return read;
    }

    /** CDI does not see the annotations of interfaces, so the method would run without its lock. */
    private static void refuseInterface(Class<?> type) {
        for (Method method : type.getDeclaredMethods()) {
            Optional<String> mark = method.isAnnotationPresent(Leader.class)
                    ? Optional.of("@Leader")
                    : Declared.on(method).stream().map(Declared::mark).findFirst();
            if (mark.isPresent()) {
                throw wrong(
                        place(mark.get(), method),
                        "CDI does not see the annotations of an interface, so the method would run without its lock",
                        "the annotation on the method of the class");
            }
        }
        for (Class<?> parent : type.getInterfaces()) {
            refuseInterface(parent);
        }
    }

    /**
     * Returns what the method of a bean class declares; empty if it is not marked.
     *
     * @throws DefinitionException if the declaration cannot work
     */
    static Marked read(Method method, Class<?> beanClass) {
        List<Declared> all = Declared.on(method);
        if (all.isEmpty()) {
            all = byClass(method, beanClass);
        }
        List<LockedMethod> read = new ArrayList<>();
        for (boolean limit : new boolean[] {false, true}) {
            List<Declared> same =
                    all.stream().filter(each -> each.isLimit() == limit).toList();
            for (Declared declared : same) {
                String place = place(declared.mark(), method);
                refusal(method).ifPresent(why -> {
                    throw wrong(
                            place,
                            why + ", so it would run without its lock",
                            "a method that a subclass can override and other beans call");
                });
                if (same.size() > 1) {
                    throw wrong(place, "together with " + same.get(1).mark() + " on the same method", "one of them");
                }
                read.add(read(place, method, declared, read.isEmpty()));
            }
        }
        if (read.size() > 1 && read.get(0).isStage()) {
            throw wrong(
                    read.get(0).place(),
                    "together with @Limited on a method that returns a stage",
                    "one of them, and the other on a method that this one calls");
        }
        return new Marked(LeaderMethod.of(method), List.copyOf(read));
    }

    private static List<Declared> byClass(Method method, Class<?> beanClass) {
        if (Modifier.isPrivate(method.getModifiers())
                || Modifier.isStatic(method.getModifiers())
                || isCalledByContainer(method)) {
            return List.of();
        }
        List<Declared> all = List.of();
        // A stereotype is not inherited by the subclass that the container makes.
        for (Class<?> type = beanClass; all.isEmpty() && type != null; type = type.getSuperclass()) {
            all = Declared.on(type);
        }
        return all;
    }

    /** @param isOutermost whether a parameter for a lease receives this one */
    private static LockedMethod read(String place, Method method, Declared declared, boolean isOutermost) {
        boolean isStage = isStage(place, method);
        Class<?> type = method.getReturnType();
        if (declared.onBusy() == OnBusy.SKIP) {
            checkCanBeSkipped(place, type);
        }
        checkName(place, declared.name(), "name = \"order.refund\", for example");
        Duration atLeast =
                duration(place, "holdAtLeast", declared.holdAtLeast()).orElse(Duration.ZERO);
        LockOptions options = options(place, declared);
        int permits =
                declared.isLimit() ? number(place, "permits", declared.permits(), AcquireRequest.CAPACITY_MAX) : 0;
        int weight = declared.isLimit() ? number(place, "weight", declared.weight(), permits) : 1;
        options.leaseFor().or(options::holdAtMost).ifPresent(atMost -> {
            if (atMost.compareTo(atLeast) < 0) {
                throw wrong(
                        place,
                        "the lock is held for at least " + DurationText.of(atLeast) + ", and for at most "
                                + DurationText.of(atMost),
                        "a shorter time at least");
            }
        });
        return new LockedMethod(
                place,
                method,
                declared.name(),
                declared.key().isEmpty() ? null : KeyTemplate.of(place, method, declared.key()),
                options,
                declared.waitTime().isBlank(),
                atLeast,
                declared.onBusy(),
                isStage,
                isOutermost ? parameter(place, method, Lease.class, "lease") : -1,
                declared.client(),
                permits,
                weight,
                declared.annotation() instanceof Idempotent idempotent ? Once.of(place, method, idempotent) : null);
    }

    static void checkCanBeSkipped(String place, Class<?> type) {
        if (type.isPrimitive() && type != void.class) {
            throw wrong(
                    place,
                    "a skipped call returns null or empty, but it returns " + type,
                    "a return type that can be null or empty");
        }
    }

    private static int number(String place, String what, String text, int largest) {
        int number = text.strip().matches("\\d{1,9}") ? Integer.parseInt(text.strip()) : 0;
        if (number < 1 || number > largest) {
            throw wrong(place, what + " = \"" + text + "\"", "a number from 1 to " + largest);
        }
        return number;
    }

    /** Returns why no interceptor sees calls of the method; empty for one that can be intercepted. */
    static Optional<String> refusal(Method method) {
        int modifiers = method.getModifiers();
        if (isCalledByContainer(method)) {
            return Optional.of("the container calls the method while it makes or ends the bean");
        }
        return Modifier.isPrivate(modifiers) || Modifier.isStatic(modifiers) || Modifier.isFinal(modifiers)
                ? Optional.of("a private, static or final method cannot be intercepted")
                : Optional.empty();
    }

    private static boolean isCalledByContainer(Method method) {
        return method.isAnnotationPresent(PostConstruct.class)
                || method.isAnnotationPresent(PreDestroy.class)
                || method.isAnnotationPresent(Inject.class);
    }

    static boolean isStage(String place, Method method) {
        Class<?>[] parameters = method.getParameterTypes();
        if (parameters.length > 0
                && parameters[parameters.length - 1].getName().equals("kotlin.coroutines.Continuation")) {
            throw wrong(
                    place,
                    "a suspending function of Kotlin, whose work goes on after the return",
                    "a function that returns a CompletionStage, or the coroutine forms of holdfast-kotlin");
        }
        Class<?> type = method.getReturnType();
        if (type == CompletionStage.class || type == CompletableFuture.class) {
            return true;
        }
        if (goesOn(type)) {
            throw wrong(
                    place,
                    "the end of the work behind a " + type.getName() + " is not known",
                    "a plain value, CompletionStage or CompletableFuture; a Uni has subscribeAsCompletionStage()");
        }
        return false;
    }

    private static boolean goesOn(Class<?> type) {
        return WORK_GOES_ON.contains(type.getName())
                || (type.getSuperclass() != null && goesOn(type.getSuperclass()))
                || Arrays.stream(type.getInterfaces()).anyMatch(MethodReader::goesOn);
    }

    static void checkName(String place, String name, String example) {
        if (name.isBlank()) {
            throw wrong(place, "it has no name", example);
        }
        if (name.contains("{") || name.contains("#")) {
            throw wrong(
                    place,
                    "name \"" + name + "\" is a constant, so all calls would share one lock",
                    "name = \"order.refund\", key = \"{orderId}\", for example");
        }
        try {
            LockClient.checkName(name);
        } catch (IllegalArgumentException e) {
            throw new DefinitionException(place + ": " + e.getMessage());
        }
    }

    private static LockOptions options(String place, Declared declared) {
        LockOptions options = LockOptions.defaults().leftAtClose();
        Optional<Duration> wait = declared.waitTime().equals("unlimited")
                ? Optional.empty()
                : duration(place, "waitTime", declared.waitTime());
        Optional<Duration> lease = duration(place, "leaseTime", declared.leaseTime());
        Optional<Duration> most = duration(place, "holdAtMost", declared.holdAtMost());
        try {
            options = wait.isPresent() ? options.waitAtMost(wait.get()) : options;
            options = lease.isPresent() ? options.leaseFor(lease.get()) : options;
            return most.isPresent() ? options.holdAtMost(most.get()) : options;
        } catch (IllegalArgumentException e) {
            throw new DefinitionException(place + ": " + e.getMessage());
        }
    }

    static Optional<Duration> duration(String place, String what, String text) {
        try {
            return Settings.duration(text);
        } catch (IllegalArgumentException e) {
            throw new DefinitionException(place + ": " + what + ": " + e.getMessage());
        }
    }

    static int parameter(String place, Method method, Class<?> type, String what) {
        int found = -1;
        Class<?>[] types = method.getParameterTypes();
        for (int i = 0; i < types.length; i++) {
            if (types[i] == type) {
                if (found >= 0) {
                    throw wrong(place, "two parameters for the " + what, "one");
                }
                found = i;
            }
        }
        return found;
    }

    static String place(String mark, Method method) {
        String types = Arrays.stream(method.getParameterTypes())
                .map(Class::getSimpleName)
                .collect(Collectors.joining(", "));
        return mark + " on " + method.getDeclaringClass().getName() + "." + method.getName() + "(" + types + ")";
    }
}
