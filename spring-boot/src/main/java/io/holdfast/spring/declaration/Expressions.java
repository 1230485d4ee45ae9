package io.holdfast.spring.declaration;

import java.lang.reflect.Method;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.CachedExpressionEvaluator;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.VariableReference;
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
     * @throws LockedDefinitionException if the text does not parse, or names a parameter that the method does not have
     */
    Expression parse(Method method, String what, String text) {
        Expression parsed;
        try {
            parsed = parseExpression(text);
        } catch (ParseException | IllegalStateException e) {
            throw new LockedDefinitionException(
                    method,
                    what + " \"" + text + "\" does not parse: " + e.getMessage(),
                    "an expression as in @Cacheable, for example \"#orderId\"; a fixed text goes into the name");
        }
        if (parsed instanceof SpelExpression spel) {
            checkVariables(method, what + " \"" + text + "\"", spel.getAST());
        }
        return parsed;
    }

    public EvaluationContext context(Object target, Class<?> targetClass, Method method, @Nullable Object[] args) {
        MethodBasedEvaluationContext context = new MethodBasedEvaluationContext(
                new LockedRoot(method, args, target, targetClass), method, args, getParameterNameDiscoverer());
        context.setBeanResolver(new BeanFactoryResolver(beans));
        return context;
    }

    private void checkVariables(Method method, String what, SpelNode node) {
        if (node instanceof VariableReference variable) {
            checkVariable(method, what, variable.toStringAST().substring(1));
        }
        for (int i = 0; i < node.getChildCount(); i++) {
            checkVariables(method, what, node.getChild(i));
        }
    }

    private void checkVariable(Method method, String what, String name) {
        if (name.equals("root") || name.equals("this")) {
            return;
        }
        if (name.matches("[pa]\\d{1,3}") && Integer.parseInt(name.substring(1)) < method.getParameterCount()) {
            return;
        }
        @Nullable String @Nullable [] known = getParameterNameDiscoverer().getParameterNames(method);
        if (known == null) {
            throw new LockedDefinitionException(
                    method,
                    what + ": the class file has no names of parameters",
                    "compile with -parameters, or write #p0, or mark the parameter with @LockKey");
        }
        if (!Arrays.asList(known).contains(name)) {
            throw new LockedDefinitionException(
                    method, what + ": there is no parameter \"" + name + "\"", "one of " + Arrays.toString(known));
        }
    }
}
