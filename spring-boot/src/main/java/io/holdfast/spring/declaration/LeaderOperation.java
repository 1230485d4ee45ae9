package io.holdfast.spring.declaration;

import java.lang.reflect.Method;

/**
 * The declaration of one method that runs only on the leader, read and checked once. Immutable.
 *
 * @param method the method of the target class
 * @param leadership the name of the leadership
 * @param client name or qualifier of the client; empty: the primary one
 * @param termParameter index of the parameter of type Term; -1: none
 */
public record LeaderOperation(Method method, Returns returns, String leadership, String client, int termParameter) {

    public String describe() {
        return LockedDefinitionException.describe(method);
    }
}
