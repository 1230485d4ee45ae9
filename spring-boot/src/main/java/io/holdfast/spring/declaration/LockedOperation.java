package io.holdfast.spring.declaration;

import io.holdfast.LockOptions;
import io.holdfast.spring.OnBusy;
import io.holdfast.spring.OnLost;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationContext;

/**
 * The declaration of what one method holds while it runs, read and checked once. Immutable.
 *
 * @param kind what it holds; a method with several kinds has an operation for each
 * @param method the method of the target class
 * @param names one for each annotation
 * @param limit how many permits there are
 * @param weight how many permits a call takes
 * @param holdAtLeast zero by default
 * @param busyAnswer what answers a call whose lock is busy; null: an exception, or as onBusy says
 * @param client name or qualifier of the client; empty: the primary one
 * @param leaseParameter index of the parameter of type Lease or MultiLease; -1: none
 * @param isScheduled whether Spring's scheduler calls the method
 * @param once null: the work is done at each call
 */
public record LockedOperation(
        Kind kind,
        Method method,
        Returns returns,
        List<LockedName> names,
        Count limit,
        Count weight,
        LockOptions options,
        Duration holdAtLeast,
        OnBusy onBusy,
        @Nullable BusyAnswer busyAnswer,
        OnLost onLost,
        String client,
        int leaseParameter,
        boolean isScheduled,
        @Nullable Once once) {

    public boolean usesExpressions() {
        return (once != null && once.fingerprint() != null)
                || names.stream().anyMatch(LockedName::usesExpressions)
                || !limit.isConstant()
                || !weight.isConstant();
    }

    /**
     * Returns what a call wants of its names.
     *
     * @throws IllegalArgumentException if an expression gives no number, or one that is out of range
     */
    public Wanted wanted(@Nullable EvaluationContext context) {
        if (kind != Kind.PERMITS) {
            // Nested calls may have either: the lock is the same.
            return kind.isOnce() ? Wanted.LOCK : new Wanted(kind, 1, 1);
        }
        LockedName name = names.get(0);
        int permits = limit.value(method, name, context);
        int taken = weight.value(method, name, context);
        try {
            return Wanted.permits(permits, taken);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(place() + ": " + e.getMessage(), e);
        }
    }

    /** Returns the lock names for these arguments, sorted; empty if no condition is true. */
    public Collection<String> names(@Nullable Object[] args, @Nullable EvaluationContext context) {
        TreeSet<String> all = new TreeSet<>();
        names.forEach(name -> name.addNames(method, args, context, all::add));
        return all;
    }

    /** Returns the constant parts of the names. */
    public List<String> constantNames() {
        return names.stream().map(LockedName::name).toList();
    }

    /**
     * Returns the names as people read them: the constant part, a colon, and the expression or parameter of the key.
     */
    public List<String> describeNames() {
        return names.stream().flatMap(LockedName::describe).toList();
    }

    /** Returns a text that two operations have in common if equal keys give them the permits of the same name. */
    public String pool() {
        return names.get(0).pool();
    }

    /** Returns the type of the result, which for a suspending function is not the return type. */
    public Class<?> resultType() {
        return Returns.resultType(method);
    }

    public String describe() {
        return LockedDefinitionException.describe(method);
    }

    /** Returns the annotation and the method, for messages. */
    public String place() {
        return kind.mark() + " on " + describe();
    }
}
