package io.holdfast.spring.declaration;

import java.lang.reflect.Method;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Refuses an expression in the place of the constant part of the name, where other libraries evaluate one: it would be
 * a text like any other, so that all calls would share one lock.
 */
final class ConstantName {

    private static final Pattern TEMPLATE = Pattern.compile("#\\{([^}]*)}?");

    /** A variable; the group before it tells it from a constant like {@code OrderService#refund}. */
    private static final Pattern VARIABLE = Pattern.compile("(^|[^\\p{Alnum}_])?#(\\p{Alpha}\\w*)");

    private ConstantName() {}

    /** @throws LockedDefinitionException if the name has an expression in it */
    static void check(Method method, String name, Predicate<String> isVariable) {
        if (TEMPLATE.matcher(name).find() || hasVariable(name, isVariable)) {
            throw new LockedDefinitionException(
                    method,
                    "name \"" + name + "\" is a constant, in which no expression is evaluated, so all calls would"
                            + " share one lock",
                    rightForm(name));
        }
    }

    private static boolean hasVariable(String name, Predicate<String> isVariable) {
        Matcher variables = VARIABLE.matcher(name);
        while (variables.find()) {
            if (variables.group(1) != null || isVariable.test(variables.group(2))) {
                return true;
            }
        }
        return false;
    }

    private static String rightForm(String name) {
        int first = name.indexOf('#');
        String constant = name.substring(0, first).replaceAll("['\"+\\s]", "").replaceAll("[:.#/_-]+$", "");
        List<String> keys = TEMPLATE.matcher(name)
                .results()
                .map((MatchResult each) -> each.group(1))
                .toList();
        keys = keys.isEmpty() ? List.of(name.substring(first)) : keys;
        String key =
                keys.size() == 1 ? '"' + keys.get(0) + '"' : "{\"" + String.join("\", \"", keys) + "\"}, join = true";
        return "name = \"" + (constant.isEmpty() ? "order.refund" : constant) + "\", key = " + key;
    }
}
