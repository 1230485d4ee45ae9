package io.holdfast.spring.declaration;

import io.holdfast.spring.OnceRecord;
import java.lang.reflect.Type;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;

/**
 * The way in which the work of a method is done once.
 *
 * @param targetClass the class of the bean
 * @param resultType the return type, without the type variables that the class binds
 * @param fingerprint null: all arguments
 * @param record where key and result are kept
 * @param transactionManager name or qualifier; empty: that of the method, or the primary one
 */
public record Once(
        Class<?> targetClass,
        Type resultType,
        Duration keepFor,
        @Nullable Expression fingerprint,
        OnceRecord record,
        String transactionManager) {

    public boolean isInStore() {
        return record == OnceRecord.STORE_AT_LEAST_ONCE;
    }

    /**
     * Returns the value of the fingerprint.
     *
     * @throws IllegalArgumentException if the text of the value differs between processes
     */
    public String fingerprint(LockedOperation operation, Expression expression, EvaluationContext context) {
        LockedName name = operation.names().get(0);
        String what = "fingerprint \"" + expression.getExpressionString() + "\"";
        Object value = name.value(operation.method(), what, expression, context);
        String unstable = Texts.whyUnstable(value);
        if (unstable != null) {
            throw name.wrong(
                    operation.method(),
                    what + " " + unstable,
                    "a value whose text is the same in every process, for example an amount");
        }
        return String.valueOf(value);
    }
}
