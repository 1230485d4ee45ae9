package io.holdfast.spring.declaration;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeanUtils;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.InlineMap;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.VariableReference;

/** Refuses what an expression names and no call has: parameters, and properties and methods of the root. */
final class References {

    private final Method method;
    private final String what;
    private final ParameterNameDiscoverer discoverer;

    /** @param what the expression, for messages */
    References(Method method, String what, ParameterNameDiscoverer discoverer) {
        this.method = method;
        this.what = what;
        this.discoverer = discoverer;
    }

    /** @throws LockedDefinitionException if the node, or one below it, names what no call has */
    void check(SpelNode node) {
        if (node instanceof VariableReference variable) {
            checkVariable(variable.toStringAST().substring(1));
        } else if (node instanceof PropertyOrFieldReference property) {
            checkProperty(property.getName());
        } else if (node instanceof MethodReference called) {
            checkMethod(called.getName());
        }
        checkChildren(node);
    }

    private void checkChildren(SpelNode node) {
        // Inside of these two, names are those of the elements.
        boolean ofElements = node instanceof Selection || node instanceof Projection;
        for (int i = 0; i < node.getChildCount(); i++) {
            SpelNode child = node.getChild(i);
            boolean ofAnother = ofElements
                    || (node instanceof CompoundExpression && i > 0)
                    // A bare name as an index, or as a key in braces, is a text.
                    || ((node instanceof Indexer || node instanceof InlineMap)
                            && child instanceof PropertyOrFieldReference);
            if (!ofAnother) {
                check(child);
            } else if (ofElements) {
                checkVariables(child);
            } else {
                checkChildren(child);
            }
        }
    }

    private void checkVariables(SpelNode node) {
        if (node instanceof VariableReference variable) {
            checkVariable(variable.toStringAST().substring(1));
        }
        for (int i = 0; i < node.getChildCount(); i++) {
            checkVariables(node.getChild(i));
        }
    }

    private void checkVariable(String name) {
        if (isKnown(method, name, discoverer)) {
            return;
        }
        @Nullable String @Nullable [] known = discoverer.getParameterNames(method);
        if (known == null) {
            throw new LockedDefinitionException(
                    method,
                    what + ": the class file has no names of parameters",
                    "compile with -parameters, or write #p0, or mark the parameter with @LockKey");
        }
        throw new LockedDefinitionException(
                method, what + ": there is no parameter \"" + name + "\"", "one of " + Arrays.toString(known));
    }

    private void checkProperty(String name) {
        if (BeanUtils.getPropertyDescriptor(LockedRoot.class, name) == null) {
            throw new LockedDefinitionException(
                    method,
                    what + ": \"" + name + "\" is neither a parameter, which is written #" + name
                            + ", nor a property of the root",
                    "\"#" + name + "\", or a property of the root: method, methodName, args, target or targetClass;"
                            + " a fixed text goes into the name");
        }
    }

    private void checkMethod(String name) {
        if (Arrays.stream(LockedRoot.class.getMethods())
                .noneMatch(each -> each.getName().equals(name))) {
            throw new LockedDefinitionException(
                    method,
                    what + ": \"" + name + "\" is no method of the root",
                    "the method of a parameter, a bean or the target: \"#parameter." + name + "()\", \"@bean." + name
                            + "()\" or \"target." + name + "()\"");
        }
    }

    /** Returns whether a variable of this name has a value in expressions of the method. */
    static boolean isKnown(Method method, String variable, ParameterNameDiscoverer discoverer) {
        @Nullable String @Nullable [] known = discoverer.getParameterNames(method);
        return List.of("root", "this").contains(variable)
                // A parameter by its index, for example p0 or a0.
                || (variable.matches("[pa]\\d{1,3}")
                        && Integer.parseInt(variable.substring(1)) < method.getParameterCount())
                || (known != null && Arrays.asList(known).contains(variable));
    }
}
