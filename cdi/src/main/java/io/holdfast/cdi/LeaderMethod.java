package io.holdfast.cdi;

import static io.holdfast.cdi.KeyTemplate.wrong;

import io.holdfast.Term;
import jakarta.enterprise.inject.spi.DefinitionException;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/**
 * A method that runs only on the leader, read and checked.
 *
 * @param place the annotation and the method, for messages
 * @param isStage whether the method returns a stage, so that its work goes on after the return
 * @param termParameter the index of the parameter for the term; -1 for none
 */
record LeaderMethod(String place, Method method, String leadership, String client, boolean isStage, int termParameter) {

    /**
     * Returns null if the method is not marked.
     *
     * @throws DefinitionException if the declaration cannot work
     */
    static @Nullable LeaderMethod of(Method method) {
        Leader leader = method.getAnnotation(Leader.class);
        if (leader == null) {
            return null;
        }
        String place = MethodReader.place("@Leader", method);
        MethodReader.refusal(method).ifPresent(why -> {
            throw wrong(
                    place,
                    why + ", so every process would run it",
                    "a method that a subclass can override and other beans call");
        });
        Class<?> type = method.getReturnType();
        boolean isStage = MethodReader.isStage(place, method);
        MethodReader.checkCanBeSkipped(place, type);
        MethodReader.checkName(place, leader.value(), "@Leader(\"billing\"), for example");
        return new LeaderMethod(
                place,
                method,
                leader.value(),
                leader.client(),
                isStage,
                MethodReader.parameter(place, method, Term.class, "term"));
    }
}
