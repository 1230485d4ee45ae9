package io.holdfast.spring.declaration;

import static io.holdfast.spring.declaration.MethodChecks.refuseIf;
import static java.util.Objects.requireNonNull;

import io.holdfast.LeadershipListener;
import io.holdfast.LockClient;
import io.holdfast.Term;
import io.holdfast.spring.Leader;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.core.MethodClassKey;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/** Reads {@link Leader} annotations, and refuses declarations that cannot work. Thread-safe. */
public final class LeaderReader {

    /** An expression in the place of the name, where other libraries evaluate one. */
    private static final Pattern EXPRESSION = Pattern.compile("#\\{|(^|[^\\p{Alnum}_])#\\p{Alpha}");

    private final ConfigurableBeanFactory beans;
    private final Map<MethodClassKey, LeaderOperation> operations = new ConcurrentHashMap<>();

    LeaderReader(ConfigurableBeanFactory beans) {
        this.beans = beans;
    }

    /**
     * Returns whether the method is marked, valid or not. On a method that makes a bean, the annotation is for the
     * bean.
     */
    static boolean isMarked(Method method) {
        MergedAnnotations all = MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY);
        return !method.isSynthetic() && all.isPresent(Leader.class) && !all.isPresent(Bean.class);
    }

    /**
     * Returns the operation of a method of the target class; null if it is not marked.
     *
     * @throws LockedDefinitionException if the declaration cannot work
     */
    @Nullable
    LeaderOperation operation(Method method, Class<?> targetClass) {
        MethodClassKey key = new MethodClassKey(method, targetClass);
        LeaderOperation known = operations.get(key);
        if (known == null && isMarked(method)) {
            // Not computeIfAbsent: nothing of ours may be locked while Spring resolves a placeholder.
            LeaderOperation read = read(method, targetClass);
            known = operations.putIfAbsent(key, read);
            known = known != null ? known : read;
        }
        return known;
    }

    private LeaderOperation read(Method method, Class<?> targetClass) {
        MergedAnnotation<Leader> annotation =
                MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).get(Leader.class);
        MethodChecks.checkCanBeIntercepted(method, targetClass);
        Returns returns = Returns.of(method, targetClass);
        MethodChecks.checkCanBeSkipped(method, returns, "it is skipped where this process does not lead", "");
        String place = "@Leader on " + LockedDefinitionException.describe(method);
        String name = MethodChecks.resolve(beans, place, "the name", annotation.getString("value"));
        return new LeaderOperation(
                method,
                returns,
                checkName(place, name),
                MethodChecks.resolve(beans, place, "client", annotation.getString("client")),
                termParameter(method));
    }

    /**
     * Returns the name of a leadership.
     *
     * @param place the annotation and what it is on, for the message
     * @throws LockedDefinitionException if it cannot be one
     */
    static String checkName(String place, String name) {
        if (name.isBlank()) {
            throw new LockedDefinitionException(place, "it has no name", "@Leader(\"billing\"), for example");
        }
        if (EXPRESSION.matcher(name).find()) {
            throw new LockedDefinitionException(
                    place,
                    "the name \"" + name + "\" is a constant, in which no expression is evaluated",
                    "one leadership for all calls, with a fixed name; a lock for each key has @Locked");
        }
        try {
            return LockClient.checkName(name);
        } catch (IllegalArgumentException e) {
            throw new LockedDefinitionException(place, String.valueOf(e.getMessage()), "a shorter name");
        }
    }

    /**
     * The leadership of a listener bean.
     *
     * @param place the annotation and what it is on, for messages
     */
    public record Named(String leadership, String client, String place) {}

    /**
     * Returns the leadership of a marked bean.
     *
     * @throws LockedDefinitionException if the bean is no listener, or the declaration cannot work
     */
    public static Named of(ConfigurableListableBeanFactory beans, String bean) {
        String place = "@Leader on bean \"" + bean + "\"";
        Leader annotation = requireNonNull(beans.findAnnotationOnBean(bean, Leader.class));
        if (!beans.isTypeMatch(bean, LeadershipListener.class)) {
            throw new LockedDefinitionException(
                    place,
                    "it is no LeadershipListener, so nothing would learn of the election",
                    "@Leader on its methods, or a class that implements LeadershipListener");
        }
        String name = MethodChecks.resolve(beans, place, "the name", annotation.value());
        return new Named(
                checkName(place, name), MethodChecks.resolve(beans, place, "client", annotation.client()), place);
    }

    private static int termParameter(Method method) {
        int found = -1;
        Class<?>[] types = method.getParameterTypes();
        for (int i = 0; i < types.length; i++) {
            if (types[i] == Term.class) {
                refuseIf(found >= 0, method, "two parameters for the term", "one");
                found = i;
            }
        }
        return found;
    }
}
