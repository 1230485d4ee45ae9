package io.holdfast.spring.declaration;

import io.holdfast.spring.Locked;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.util.ReflectionUtils;

/** Names the annotation of a method, and what it prevents, for messages. */
public final class Marks {

    private Marks() {}

    /** Returns whether the method itself has {@link io.holdfast.spring.Leader} and holds nothing. */
    static boolean isLeaderOnly(Method method) {
        return LeaderReader.isMarked(method) && Declared.on(method).isEmpty();
    }

    /** Returns the annotation and the method. */
    public static String on(Method method) {
        return mark(isLeaderOnly(method), Declared.on(method), method.getDeclaringClass())
                + LockedDefinitionException.describe(method);
    }

    /** Returns the annotation that the methods of this class have, and a place that is not a method. */
    public static String on(Class<?> type, String place) {
        List<Declared> all = Stream.<AnnotatedElement>concat(
                        Stream.of(type), Arrays.stream(ReflectionUtils.getAllDeclaredMethods(type)))
                .flatMap(each -> Declared.on(each).stream())
                .toList();
        return mark(all.isEmpty(), all, type) + place;
    }

    /** @param own those of the method; if it has none, those of its class count */
    private static String mark(boolean isLeader, List<Declared> own, Class<?> type) {
        List<Declared> all = own.isEmpty() ? Declared.on(type) : own;
        return (isLeader ? "@Leader" : outermost(all).mark()) + " on ";
    }

    /** Returns how the method would run if nothing intercepted it. */
    public static String unguarded(Method method) {
        List<Declared> own = Declared.on(method);
        Kind kind = outermost(own.isEmpty() ? Declared.on(method.getDeclaringClass()) : own);
        return isLeaderOnly(method) ? "on every node" : kind.isOnce() ? "at each call" : "without its " + kind.word();
    }

    private static Kind outermost(List<Declared> all) {
        return all.isEmpty() || !Declared.of(Locked.class, all).isEmpty()
                ? Kind.LOCK
                : all.get(0).kind();
    }
}
