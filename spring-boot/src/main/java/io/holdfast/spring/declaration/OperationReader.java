package io.holdfast.spring.declaration;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.MultiLease;
import io.holdfast.spring.LockKey;
import io.holdfast.spring.Locked;
import io.holdfast.spring.LockedDefaults;
import io.holdfast.spring.OnBusy;
import io.holdfast.spring.OnLost;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.SpringProxy;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.BridgeMethodResolver;
import org.springframework.core.DecoratingProxy;
import org.springframework.core.MethodClassKey;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.expression.Expression;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/** Reads {@link Locked} off methods, and refuses what cannot work. */
public final class OperationReader {

    private final ConfigurableListableBeanFactory beans;
    private final Expressions expressions;
    private final Map<MethodClassKey, Boolean> marked = new ConcurrentHashMap<>();
    private final Map<MethodClassKey, LockedOperation> operations = new ConcurrentHashMap<>();

    public OperationReader(ConfigurableListableBeanFactory beans, Expressions expressions) {
        this.beans = beans;
        this.expressions = expressions;
    }

    /** Whether the method is to be locked, right or wrong. */
    public boolean isMarked(Method method, Class<?> targetClass) {
        return marked.computeIfAbsent(
                new MethodClassKey(method, targetClass),
                key -> !annotations(specific(method, targetClass), targetClass).isEmpty());
    }

    /** Whether a proxy that goes by the one class locks what is marked in the other. */
    public boolean seesAll(Method method, Class<?> seen, Class<?> other) {
        Method specific = specific(method, seen);
        if (isOfProxies(specific.getDeclaringClass())) {
            // What every object has is not among the methods that a mark on a class is for.
            return own(specific(method, other)).isEmpty();
        }
        List<Locked> known = annotations(specific, seen);
        // What is on the other class as a whole may be replaced by what is on the method.
        return known.isEmpty() ? !isMarked(method, other) : known.containsAll(own(specific(method, other)));
    }

    /**
     * What is to be done for a method that is marked.
     *
     * @throws LockedDefinitionException if that cannot work
     */
    public LockedOperation operation(Method method, Class<?> targetClass) {
        return operations.computeIfAbsent(new MethodClassKey(method, targetClass), key -> {
            Method specific = specific(method, targetClass);
            return read(specific, targetClass, annotations(specific, targetClass));
        });
    }

    /** What a call of the method comes to in this class: never a bridge, by which callers of a generic interface come. */
    public static Method specific(Method method, Class<?> targetClass) {
        if (Proxy.isProxyClass(targetClass)) {
            // The methods of a proxy that a library made are those of its interfaces.
            return BridgeMethodResolver.findBridgedMethod(method);
        }
        Method own = ClassUtils.getMostSpecificMethod(method, ClassUtils.getUserClass(targetClass));
        // Bridges alone: of others that would be any method that is like it, such as one with Long instead of long.
        return own.isBridge() ? AopUtils.getMostSpecificMethod(own, targetClass) : own;
    }

    /** Whether the method is marked, and not only its class. */
    public static boolean isMarkedItself(Method method) {
        return !own(method).isEmpty();
    }

    private static List<Locked> own(Method method) {
        return MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).stream(Locked.class)
                .map(annotation -> annotation.synthesize())
                .distinct()
                .toList();
    }

    /** Those of the method, else those of the class for its public methods. */
    private static List<Locked> annotations(Method method, Class<?> targetClass) {
        if (method.isSynthetic() || isOfProxies(method.getDeclaringClass())) {
            return List.of();
        }
        List<Locked> own = own(method);
        boolean inherits = own.isEmpty() && Modifier.isPublic(method.getModifiers()) && !isStatic(method);
        if (!inherits) {
            return own;
        }
        return MergedAnnotations.from(targetClass, SearchStrategy.TYPE_HIERARCHY).stream(Locked.class)
                .map(annotation -> annotation.synthesize())
                .distinct()
                .toList();
    }

    /** Whether its methods are those of every proxy, or of every object. */
    private static boolean isOfProxies(Class<?> type) {
        return type == Object.class
                || type.isAssignableFrom(Advised.class)
                || type == SpringProxy.class
                || type == DecoratingProxy.class;
    }

    private LockedOperation read(Method method, Class<?> targetClass, List<Locked> annotations) {
        Locked first = annotations.get(0);
        annotations.forEach(other -> checkAgreement(method, first, other));
        checkCanBeIntercepted(method, targetClass);
        Returns returns = Returns.of(method, targetClass);
        List<LockedName> names = new ArrayList<>();
        annotations.forEach(annotation -> names.add(name(method, annotation)));
        LockedOperation operation = new LockedOperation(
                method,
                returns,
                List.copyOf(names),
                options(method, first),
                duration(method, "holdAtLeast", first.holdAtLeast()).orElse(Duration.ZERO),
                first.onBusy(),
                fallback(method, first.fallback()),
                first.onLost(),
                resolve(first.client()),
                leaseParameter(method, names));
        check(operation);
        return operation;
    }

    private static void checkCanBeIntercepted(Method method, Class<?> targetClass) {
        int modifiers = method.getModifiers();
        String kind = Modifier.isPrivate(modifiers)
                ? "private"
                : isStatic(method)
                        ? "static"
                        : Modifier.isFinal(modifiers)
                                ? "final"
                                : isHidden(method, targetClass) ? "package-private inherited" : null;
        if (kind != null) {
            throw new LockedDefinitionException(
                    method,
                    "a " + kind + " method cannot be intercepted, so it would run without its lock",
                    "a method that a subclass can override");
        }
    }

    /** Whether it is of another package, where a subclass of the target class, such as a proxy, cannot override it. */
    @SuppressWarnings("ReferenceEquality") // the very loader that defined both
    private static boolean isHidden(Method method, Class<?> targetClass) {
        int visible = Modifier.PUBLIC | Modifier.PROTECTED;
        Class<?> declaring = method.getDeclaringClass();
        return (method.getModifiers() & visible) == 0
                && !(declaring.getPackageName().equals(targetClass.getPackageName())
                        && declaring.getClassLoader() == targetClass.getClassLoader());
    }

    /** Several on one method are one acquisition. */
    private static void checkAgreement(Method method, Locked first, Locked other) {
        boolean agree = first.waitTime().equals(other.waitTime())
                && first.leaseTime().equals(other.leaseTime())
                && first.holdAtMost().equals(other.holdAtMost())
                && first.holdAtLeast().equals(other.holdAtLeast())
                && first.onBusy() == other.onBusy()
                && first.fallback().equals(other.fallback())
                && first.onLost() == other.onLost()
                && first.client().equals(other.client());
        if (!agree) {
            throw new LockedDefinitionException(
                    method,
                    "several annotations that differ in more than name, key and condition",
                    "the same times, onBusy, fallback, onLost and client, since all names are locked together");
        }
    }

    private LockedName name(Method method, Locked annotation) {
        String name = resolve(annotation.name());
        if (name.isBlank()) {
            throw new LockedDefinitionException(method, "it has no name", "name = \"order.refund\", for example");
        }
        List<Integer> keyParameters = new ArrayList<>();
        for (int i = 0; i < method.getParameterCount(); i++) {
            if (ParameterAnnotations.isPresent(method, i, LockKey.class)) {
                keyParameters.add(i);
            }
        }
        if (!keyParameters.isEmpty() && annotation.key().length > 0) {
            throw new LockedDefinitionException(method, "both key and @LockKey parameters", "one of them");
        }
        List<Expression> keys = new ArrayList<>();
        for (String key : annotation.key()) {
            keys.add(expressions.parse(method, "key", key));
        }
        Expression condition = StringUtils.hasText(annotation.condition())
                ? expressions.parse(method, "condition", annotation.condition())
                : null;
        try {
            LockClient.checkName(name);
        } catch (IllegalArgumentException e) {
            throw new LockedDefinitionException(method, String.valueOf(e.getMessage()), "a shorter name");
        }
        return new LockedName(name, List.copyOf(keys), List.copyOf(keyParameters), condition);
    }

    private LockOptions options(Method method, Locked annotation) {
        LockedDefaults defaults = beans.getBeanProvider(LockedDefaults.class).getIfAvailable(LockedDefaults::standard);
        // Of its times none is used: a method without one has the wait time above, and a lease that is renewed.
        LockOptions options = LockOptions.defaults();
        options = defaults.options().tenure().map(options::tenure).orElse(options);
        options = defaults.options().isFair() ? options.fair() : options;
        String wait = resolve(annotation.waitTime());
        Optional<Duration> waitTime = wait.isBlank()
                ? defaults.waitTime()
                : wait.equals("unlimited") ? Optional.empty() : duration(method, "waitTime", wait);
        Optional<Duration> lease = duration(method, "leaseTime", annotation.leaseTime());
        Optional<Duration> most = duration(method, "holdAtMost", annotation.holdAtMost());
        try {
            options = waitTime.isPresent() ? options.waitAtMost(waitTime.get()) : options;
            options = lease.isPresent() ? options.leaseFor(lease.get()) : options;
            return most.isPresent() ? options.holdAtMost(most.get()) : options;
        } catch (IllegalArgumentException e) {
            throw new LockedDefinitionException(method, String.valueOf(e.getMessage()), "other times");
        }
    }

    private Optional<Duration> duration(Method method, String what, String text) {
        String resolved = resolve(text).strip();
        if (resolved.isEmpty()) {
            return Optional.empty();
        }
        try {
            // A bare number would be milliseconds here and seconds elsewhere; zero is zero.
            boolean bare = resolved.matches("[+-]?\\d+") && !resolved.matches("0+");
            Duration parsed = bare ? null : DurationStyle.detectAndParse(resolved);
            if (parsed != null && !parsed.isNegative()) {
                return Optional.of(parsed);
            }
        } catch (IllegalArgumentException | ArithmeticException e) {
            // Answered below.
        }
        throw new LockedDefinitionException(
                method, what + ": \"" + resolved + "\"", "a number with its unit, for example 500ms, 10s or 5m");
    }

    private static @Nullable Method fallback(Method method, String name) {
        if (!StringUtils.hasText(name)) {
            return null;
        }
        Class<?> type = method.getDeclaringClass();
        Method found = ClassUtils.getMethodIfAvailable(type, name, method.getParameterTypes());
        for (Class<?> c = type; found == null && c != null; c = c.getSuperclass()) {
            found = declared(c, name, method.getParameterTypes());
        }
        for (Class<?> c = type; found == null && c != null; c = c.getSuperclass()) {
            found = declared(c, name);
        }
        if (found == null || !ClassUtils.isAssignable(method.getReturnType(), found.getReturnType())) {
            throw new LockedDefinitionException(
                    method,
                    "fallback \"" + name + "\" " + (found == null ? "is not there" : "returns something else"),
                    "a method of the same class that returns "
                            + method.getReturnType().getSimpleName() + ", with the parameters "
                            + Arrays.toString(method.getParameterTypes()) + " or none");
        }
        if (isMarkedItself(found)) {
            throw new LockedDefinitionException(
                    method,
                    "fallback \"" + name
                            + "\" is locked itself, but is called past the proxy, so it would run without its lock",
                    "a method that is not locked");
        }
        found.trySetAccessible();
        return found;
    }

    private static @Nullable Method declared(Class<?> type, String name, Class<?>... parameters) {
        try {
            return type.getDeclaredMethod(name, parameters);
        } catch (NoSuchMethodException e) {
            return null;
        }
    }

    private static int leaseParameter(Method method, List<LockedName> names) {
        int found = -1;
        Class<?>[] types = method.getParameterTypes();
        for (int i = 0; i < types.length; i++) {
            boolean one = types[i] == Lease.class;
            if (!one && types[i] != MultiLease.class) {
                continue;
            }
            if (found >= 0) {
                throw new LockedDefinitionException(method, "two parameters for the lease", "one");
            }
            if (one && (names.size() > 1 || !names.get(0).isSingle())) {
                throw new LockedDefinitionException(
                        method, "a parameter of type Lease, but several locks", "a parameter of type MultiLease");
            }
            found = i;
        }
        return found;
    }

    private static void check(LockedOperation operation) {
        Method method = operation.method();
        if (operation.onBusy() == OnBusy.SKIP && operation.fallback() != null) {
            throw new LockedDefinitionException(method, "both onBusy = SKIP and a fallback", "one of them");
        }
        Class<?> type = method.getReturnType();
        if (operation.onBusy() == OnBusy.SKIP && type.isPrimitive() && type != void.class) {
            throw new LockedDefinitionException(
                    method,
                    "onBusy = SKIP, but it returns a " + type + ", which cannot be nothing",
                    "a return type that can be null or empty, or a fallback");
        }
        if (operation.onLost() == OnLost.INTERRUPT && operation.returns() != Returns.VALUE) {
            throw new LockedDefinitionException(
                    method, "onLost = INTERRUPT, but no thread of its own does the work", "THROW or EVENT");
        }
        Optional<Duration> most = operation.options().leaseFor().or(operation.options()::holdAtMost);
        if (most.isPresent() && most.get().compareTo(operation.holdAtLeast()) < 0) {
            throw new LockedDefinitionException(
                    method,
                    "holdAtLeast " + operation.holdAtLeast() + " is longer than leaseTime or holdAtMost " + most.get(),
                    "at most that");
        }
    }

    private String resolve(String text) {
        String resolved = beans.resolveEmbeddedValue(text);
        return resolved == null ? "" : resolved;
    }

    private static boolean isStatic(Method method) {
        return Modifier.isStatic(method.getModifiers());
    }
}
