package io.holdfast.spring.declaration;

import static java.util.Objects.requireNonNull;

import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;

/**
 * A number of permits in an annotation.
 *
 * @param constant the number; without meaning if there is an expression
 * @param expression what each call evaluates; null for a constant
 */
public record Count(
        String attribute, int constant, @Nullable Expression expression) {

    /** Of a lock. */
    static final Count ONE = new Count("permits", 1, null);

    /** @param digits a whole number, perhaps with a sign */
    static Count of(String attribute, String digits) {
        // What is longer is out of the range, too.
        return new Count(attribute, digits.length() < 10 ? Integer.parseInt(digits) : Integer.MAX_VALUE, null);
    }

    /** @throws LockedDefinitionException if the number is a constant below 1 or above the largest */
    void check(String place, int largest, String whichIs) {
        if (isConstant() && (constant < 1 || constant > largest)) {
            throw new LockedDefinitionException(
                    place, attribute + " = \"" + constant + "\"", "from 1 to " + largest + whichIs);
        }
    }

    /** Returns whether all calls have the same number. */
    public boolean isConstant() {
        return expression == null;
    }

    /** @throws IllegalArgumentException if the value for this call is no whole number */
    int value(Method method, LockedName name, @Nullable EvaluationContext context) {
        if (expression == null) {
            return constant;
        }
        String what = attribute + " \"" + expression.getExpressionString() + "\"";
        Object value = name.value(method, what, expression, requireNonNull(context));
        if (value instanceof Number number && number.intValue() == number.doubleValue()) {
            return number.intValue();
        }
        throw name.wrong(method, what + " is " + value, "a whole number");
    }

    /** Returns the number or the expression, for people. */
    public String describe() {
        return expression == null ? Integer.toString(constant) : expression.getExpressionString();
    }
}
