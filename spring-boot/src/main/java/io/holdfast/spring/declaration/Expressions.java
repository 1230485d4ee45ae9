package io.holdfast.spring.declaration;

import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.CachedExpressionEvaluator;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.standard.SpelExpression;

/** Parses and checks keys and conditions at startup, and makes the context that evaluates them at each call. */
public final class Expressions extends CachedExpressionEvaluator {

    private final BeanFactory beans;

    public Expressions(BeanFactory beans) {
        this.beans = beans;
    }

    /**
     * Returns the parsed expression.
     *
     * @throws LockedDefinitionException if the text does not parse, or names what no call has
     */
    SpelExpression parse(Method method, String what, String text) {
        SpelExpression parsed;
        try {
            parsed = (SpelExpression) parseExpression(text); // by the SpelExpressionParser of the superclass
        } catch (ParseException | IllegalStateException e) {
            throw new LockedDefinitionException(
                    method,
                    what + " \"" + text + "\" does not parse: " + e.getMessage(),
                    "an expression as in @Cacheable, for example \"#orderId\"; a fixed text goes into the name");
        }
        new References(method, what + " \"" + text + "\"", getParameterNameDiscoverer()).check(parsed.getAST());
        return parsed;
    }

    /** Returns the parsed key, as {@link #parse} does, in which a null part of a concatenation is an error. */
    Expression parseKey(Method method, String text) {
        return Concatenation.checked(parse(method, "key", text));
    }

    /** @throws LockedDefinitionException if the constant part of a name has an expression in it */
    void checkConstant(Method method, String name) {
        ConstantName.check(
                method, name, variable -> References.isKnown(method, variable, getParameterNameDiscoverer()));
    }

    public EvaluationContext context(Object target, Class<?> targetClass, Method method, @Nullable Object[] args) {
        MethodBasedEvaluationContext context = new MethodBasedEvaluationContext(
                new LockedRoot(method, args, target, targetClass), method, args, getParameterNameDiscoverer());
        context.setBeanResolver(new BeanFactoryResolver(beans));
        return context;
    }
}
