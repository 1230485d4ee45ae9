package io.holdfast.spring.declaration;

import java.lang.reflect.Method;
import java.util.Arrays;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ReflectionUtils;

/** Names the annotation of a method, and what it prevents, for messages. */
public final class Marks {

    private Marks() {}

    /** Returns whether the method itself has {@link io.holdfast.spring.Leader} and no lock. */
    static boolean isLeaderOnly(Method method) {
        return LeaderReader.isMarked(method) && OperationReader.own(method).isEmpty();
    }

    /** Returns the annotation and the method. */
    public static String on(Method method) {
        return (isLeaderOnly(method) ? "@Leader on " : "@Locked on ") + LockedDefinitionException.describe(method);
    }

    /** Returns the annotation that the methods of this class have, and a place that is not a method. */
    public static String on(Class<?> type, String place) {
        boolean locked =
                MergedAnnotations.from(type, SearchStrategy.TYPE_HIERARCHY).isPresent(io.holdfast.spring.Locked.class)
                        || Arrays.stream(ReflectionUtils.getAllDeclaredMethods(type))
                                .anyMatch(each -> !OperationReader.own(each).isEmpty());
        return (locked ? "@Locked on " : "@Leader on ") + place;
    }

    /** Returns how the method would run if nothing intercepted it. */
    public static String unguarded(Method method) {
        return isLeaderOnly(method) ? "on every node" : "without its lock";
    }
}
