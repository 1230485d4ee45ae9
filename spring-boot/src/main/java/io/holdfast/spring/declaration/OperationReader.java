package io.holdfast.spring.declaration;

import static io.holdfast.spring.declaration.MethodChecks.refuseIf;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.MultiLease;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.DurationText;
import io.holdfast.spring.LockKey;
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
import org.springframework.core.BridgeMethodResolver;
import org.springframework.core.DecoratingProxy;
import org.springframework.core.MethodClassKey;
import org.springframework.core.MethodParameter;
import org.springframework.core.annotation.AnnotatedMethod;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.expression.Expression;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * Reads the {@link io.holdfast.spring.Locked}, {@link io.holdfast.spring.Limited}, {@link
 * io.holdfast.spring.Idempotent} and {@link io.holdfast.spring.Leader} annotations of methods, and refuses declarations
 * that cannot work. Thread-safe.
 */
public final class OperationReader {

    /** The way out for a final method or class of Kotlin. */
    public static final String OPEN_IN_KOTLIN =
            "open class and open fun, or the compiler plugin kotlin-spring, which opens classes with @Component,"
                    + " @Service and the like";

    private final ConfigurableListableBeanFactory beans;
    private final Expressions expressions;
    private final BusyAnswers answers;
    private final LeaderReader leaders;
    private final OnceReader onces;
    private final Map<MethodClassKey, Boolean> marked = new ConcurrentHashMap<>();
    private final Map<MethodClassKey, Boolean> locked = new ConcurrentHashMap<>();
    private final Map<MethodClassKey, List<LockedOperation>> operations = new ConcurrentHashMap<>();

    public OperationReader(ConfigurableListableBeanFactory beans, Expressions expressions) {
        this.beans = beans;
        this.expressions = expressions;
        this.answers = new BusyAnswers(beans, OperationReader::isMarkedItself);
        this.leaders = new LeaderReader(beans);
        this.onces = new OnceReader(beans, expressions);
    }

    /** Returns whether the method is marked by an annotation of its own or of its class, valid or not. */
    public boolean isMarked(Method method, Class<?> targetClass) {
        return marked.computeIfAbsent(
                new MethodClassKey(method, targetClass),
                key -> isLocked(method, targetClass) || LeaderReader.isMarked(specific(method, targetClass)));
    }

    /** Returns whether the method is marked to hold something while it runs, valid or not. */
    public boolean isLocked(Method method, Class<?> targetClass) {
        return locked.computeIfAbsent(
                new MethodClassKey(method, targetClass),
                key -> !annotations(specific(method, targetClass), targetClass).isEmpty());
    }

    /**
     * Returns the operation of a method that runs only on the leader; null if the method is not marked so.
     *
     * @throws LockedDefinitionException if the declaration cannot work
     */
    public @Nullable LeaderOperation leader(Method method, Class<?> targetClass) {
        return leaders.operation(specific(method, targetClass), targetClass);
    }

    /** Returns whether a proxy that reads the annotations of one class knows those of the other class, too. */
    public boolean seesAll(Method method, Class<?> seen, Class<?> other) {
        Method specific = specific(method, seen);
        if (LeaderReader.isMarked(specific(method, other)) && !LeaderReader.isMarked(specific)) {
            return false;
        }
        if (isOfEveryProxy(specific.getDeclaringClass())) {
            // An annotation on a class is not for the methods that every object has.
            return Declared.on(specific(method, other)).isEmpty();
        }
        return Declared.TYPES.stream().allMatch(type -> {
            List<Declared> known = Declared.of(type, annotations(specific, seen));
            // An annotation on the other class may be replaced by one on the method.
            return known.isEmpty()
                    ? Declared.of(type, annotations(specific(method, other), other))
                            .isEmpty()
                    : known.containsAll(Declared.of(type, Declared.on(specific(method, other))));
        });
    }

    /**
     * Returns the operations of a method, one for each type of annotation, the outermost first; empty if it holds
     * nothing.
     *
     * @throws LockedDefinitionException if the declaration cannot work
     */
    public List<LockedOperation> operations(Method method, Class<?> targetClass) {
        MethodClassKey key = new MethodClassKey(method, targetClass);
        List<LockedOperation> known = operations.get(key);
        if (known == null) {
            // Not computeIfAbsent: nothing of ours may be locked while Spring looks the defaults up.
            Method specific = specific(method, targetClass);
            List<LockedOperation> read = read(specific, targetClass, annotations(specific, targetClass));
            known = operations.putIfAbsent(key, read);
            known = known != null ? known : read;
        }
        return known;
    }

    /**
     * Returns the method of this class that a call of the method executes. Never a bridge, though calls by a generic
     * interface name one.
     */
    public static Method specific(Method method, Class<?> targetClass) {
        if (Proxy.isProxyClass(targetClass)) {
            // The methods of a library's proxy are those of its interfaces.
            return BridgeMethodResolver.findBridgedMethod(method);
        }
        Method own = ClassUtils.getMostSpecificMethod(method, ClassUtils.getUserClass(targetClass));
        // For bridges only: for other methods, AopUtils may find a similar one, for example with Long instead of long.
        return own.isBridge() ? AopUtils.getMostSpecificMethod(own, targetClass) : own;
    }

    /** Returns whether the method is marked by an annotation of its own. */
    public static boolean isMarkedItself(Method method) {
        return !Declared.on(method).isEmpty() || LeaderReader.isMarked(method);
    }

    /** Returns the annotations of the method; for each type of which it has none, those of the class if it is public. */
    private static List<Declared> annotations(Method method, Class<?> targetClass) {
        if (method.isSynthetic() || isOfEveryProxy(method.getDeclaringClass())) {
            return List.of();
        }
        List<Declared> own = Declared.on(method);
        int modifiers = method.getModifiers();
        if (!Modifier.isPublic(modifiers) || Modifier.isStatic(modifiers)) {
            return own;
        }
        List<Declared> all = new ArrayList<>(own);
        Declared.on(targetClass).stream()
                .filter(each -> Declared.of(each.kind().annotation, own).isEmpty())
                .forEach(all::add);
        return all;
    }

    /** Returns whether every proxy, or every object, has the methods of this type. */
    private static boolean isOfEveryProxy(Class<?> type) {
        return type == Object.class
                || type.isAssignableFrom(Advised.class)
                || type == SpringProxy.class
                || type == DecoratingProxy.class;
    }

    private List<LockedOperation> read(Method method, Class<?> targetClass, List<Declared> all) {
        List<LockedOperation> read = new ArrayList<>();
        for (Class<?> type : Declared.TYPES) {
            List<Declared> annotations = Declared.of(type, all);
            if (!annotations.isEmpty()) {
                read.add(read(method, targetClass, annotations, read.isEmpty()));
            }
        }
        return List.copyOf(read);
    }

    /** @param isOutermost whether a parameter for a lease receives that of these annotations */
    private LockedOperation read(Method method, Class<?> targetClass, List<Declared> annotations, boolean isOutermost) {
        Declared first = annotations.get(0);
        Kind kind = first.kind();
        refuseIf(
                annotations.stream().map(Declared::shared).distinct().count() > 1,
                method,
                "several annotations that differ in more than name, key, join and condition",
                "the same mode, times, onBusy, fallback, failureHandler, onLost and client, since all names are locked"
                        + " together");
        boolean isLimit = kind == Kind.PERMITS;
        refuseIf(
                (isLimit || kind.isOnce()) && annotations.size() > 1,
                method,
                "several " + kind.mark() + " annotations",
                "one, and a method of another bean for a second one");
        MethodChecks.checkCanBeIntercepted(method, targetClass);
        Returns returns = Returns.of(method, targetClass);
        Declared.OnceText text = first.once();
        Once once = text == null ? null : onces.once(method, targetClass, first, text, returns);
        List<LockedName> names =
                annotations.stream().map(each -> name(method, each)).toList();
        LockedOperation operation = new LockedOperation(
                kind,
                method,
                returns,
                names,
                isLimit ? count(method, "permits", first.permits()) : Count.ONE,
                isLimit ? count(method, "weight", first.weight()) : Count.ONE,
                options(method, first),
                duration(method, "holdAtLeast", first.holdAtLeast()).orElse(Duration.ZERO),
                first.onBusy(),
                answers.of(method, first),
                first.onLost(),
                resolve(method, "client", first.client()),
                isOutermost ? leaseParameter(method, names) : -1,
                isScheduled(method),
                once);
        check(operation);
        return operation;
    }

    private LockedName name(Method method, Declared annotation) {
        String name = resolve(method, "name", annotation.name());
        expressions.checkConstant(method, name);
        refuseIf(name.isBlank(), method, "it has no name", "name = \"order.refund\", for example");
        try {
            LockClient.checkName(name);
        } catch (IllegalArgumentException e) {
            throw new LockedDefinitionException(method, String.valueOf(e.getMessage()), "a shorter name");
        }
        // Of the method, and of those that it overrides.
        List<Integer> keyParameters = Arrays.stream(new AnnotatedMethod(method).getMethodParameters())
                .filter(parameter -> parameter.hasParameterAnnotation(LockKey.class))
                .map(MethodParameter::getParameterIndex)
                .toList();
        refuseIf(
                !keyParameters.isEmpty() && !annotation.key().isEmpty(),
                method,
                "both key and @LockKey parameters",
                "one of them");
        List<Expression> keys = annotation.key().stream()
                .map(key -> expressions.parseKey(method, key))
                .toList();
        Expression condition = StringUtils.hasText(annotation.condition())
                ? expressions.parse(method, "condition", annotation.condition())
                : null;
        refuseIf(
                annotation.kind().isExclusiveOrShared() && annotation.join() && keys.size() < 2,
                method,
                "join = true, but not several keys",
                "several keys, for example key = {\"#user.id\", \"#user.name\"}, or no join");
        return new LockedName(annotation.kind(), name, keys, annotation.join(), keyParameters, condition);
    }

    private Count count(Method method, String attribute, String text) {
        String resolved = resolve(method, attribute, text).strip();
        refuseIf(resolved.isEmpty(), method, "it has no " + attribute, attribute + " = \"5\", for example");
        return resolved.matches("[+-]?\\d+")
                ? Count.of(attribute, resolved)
                : new Count(attribute, 0, expressions.parse(method, attribute, resolved));
    }

    private LockOptions options(Method method, Declared annotation) {
        LockedDefaults defaults = beans.getBeanProvider(LockedDefaults.class).getIfAvailable(LockedDefaults::standard);
        LockOptions options = completed(LockOptions.defaults().leftAtClose(), defaults.options());
        String wait = resolve(method, "waitTime", annotation.waitTime());
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

    /** Returns the options with the tenure and the fairness of the defaults, whose times are not used. */
    public static LockOptions completed(LockOptions own, LockOptions defaults) {
        LockOptions all = own.tenure().or(defaults::tenure).map(own::tenure).orElse(own);
        return defaults.isFair() ? all.fair() : all;
    }

    private Optional<Duration> duration(Method method, String what, String text) {
        return MethodChecks.duration(beans, method, what, text);
    }

    private static boolean isScheduled(Method method) {
        return MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).isPresent(Scheduled.class);
    }

    private static int leaseParameter(Method method, List<LockedName> names) {
        int found = -1;
        Class<?>[] types = method.getParameterTypes();
        for (int i = 0; i < types.length; i++) {
            boolean one = types[i] == Lease.class;
            if (one || types[i] == MultiLease.class) {
                refuseIf(found >= 0, method, "two parameters for the lease", "one");
                refuseIf(
                        one && (names.size() > 1 || !names.get(0).isSingle()),
                        method,
                        "a parameter of type Lease, but several locks",
                        "a parameter of type MultiLease");
                found = i;
            }
        }
        return found;
    }

    private static void check(LockedOperation operation) {
        Method method = operation.method();
        if (operation.onBusy() == OnBusy.SKIP) {
            MethodChecks.checkCanBeSkipped(method, operation.returns(), "onBusy = SKIP", ", or a fallback");
        }
        refuseIf(
                operation.onLost() == OnLost.INTERRUPT && operation.returns() != Returns.VALUE,
                method,
                "onLost = INTERRUPT, but no thread of its own does the work",
                "THROW or EVENT");
        refuseIf(
                operation.kind() != Kind.LOCK
                        && (operation.names().size() > 1
                                || !operation.names().get(0).isSingle()),
                method,
                "mode = " + operation.kind() + ", but several names",
                "one name, since only locks without a mode are acquired together, or join = true");
        Count limit = operation.limit();
        limit.check(operation.place(), AcquireRequest.CAPACITY_MAX, "");
        if (limit.isConstant()) {
            operation.weight().check(operation.place(), limit.constant(), ", the permits");
        } else {
            operation.weight().check(operation.place(), AcquireRequest.CAPACITY_MAX, "");
        }
        Duration atLeast = operation.holdAtLeast();
        operation
                .options()
                .leaseFor()
                .or(operation.options()::holdAtMost)
                .ifPresent(atMost -> refuseIf(
                        atMost.compareTo(atLeast) < 0,
                        method,
                        "holdAtLeast " + DurationText.of(atLeast) + " is longer than leaseTime or holdAtMost "
                                + DurationText.of(atMost),
                        "at most that"));
    }

    private String resolve(Method method, String what, String text) {
        return MethodChecks.resolve(beans, Marks.on(method), what, text);
    }
}
