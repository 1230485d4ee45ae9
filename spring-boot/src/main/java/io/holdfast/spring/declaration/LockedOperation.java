package io.holdfast.spring.declaration;

import io.holdfast.LockOptions;
import io.holdfast.spring.Locked;
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
 * What {@link Locked} says of one method: read and checked once, never changed.
 *
 * @param method of the target class
 * @param names one for each annotation
 * @param holdAtLeast zero without
 * @param fallback null without
 * @param client name or qualifier of the client; empty: the primary one
 * @param leaseParameter index of the parameter of type Lease or MultiLease; -1 without
 */
public record LockedOperation(
        Method method,
        Returns returns,
        List<LockedName> names,
        LockOptions options,
        Duration holdAtLeast,
        OnBusy onBusy,
        @Nullable Method fallback,
        OnLost onLost,
        String client,
        int leaseParameter) {

    public boolean usesExpressions() {
        return names.stream().anyMatch(LockedName::usesExpressions);
    }

    /** The lock names for these arguments; empty if every condition says no. */
    public Collection<String> names(@Nullable Object[] args, @Nullable EvaluationContext context) {
        TreeSet<String> all = new TreeSet<>();
        names.forEach(name -> name.addNames(method, args, context, all::add));
        return all;
    }

    /** Low-cardinality name for observations. */
    public String label() {
        return names.size() == 1
                ? names.get(0).name()
                : String.join("+", names.stream().map(LockedName::name).toList());
    }
}
