package io.holdfast.verify.model;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A small explicit-state model checker: visits every state that can be reached, breadth first, so that the first
 * violation found has the shortest possible story.
 *
 * @param <S> the states; immutable, with {@code equals} and {@code hashCode}
 */
public final class StateSearch<S> {

    /**
     * Something that may happen next.
     *
     * @param what for people, in the story of a violation
     * @param to the state after it
     */
    public record Step<S>(String what, S to) {}

    /**
     * What a search came to.
     *
     * @param states how many states were visited
     * @param complete whether these are all; false if there was a violation or the limit was reached
     * @param violation the first violation with the steps that lead to it, or null
     */
    public record Result(
            int states, boolean complete, @Nullable String violation) {}

    private final Function<S, List<Step<S>>> next;
    private final Function<S, @Nullable String> violation;
    private final int statesMax;

    /** How each state was first reached: from where, and by what. */
    private record Origin<S>(@Nullable S from, String by) {}

    private final Map<S, Origin<S>> origins = new HashMap<>();
    private final Map<S, List<S>> before = new HashMap<>();

    /**
     * Describes a model.
     *
     * @param next all that can happen in a state
     * @param violation what is wrong with a state, or null
     * @param statesMax where to stop; the result is then not complete
     */
    public StateSearch(Function<S, List<Step<S>>> next, Function<S, @Nullable String> violation, int statesMax) {
        this.next = next;
        this.violation = violation;
        this.statesMax = statesMax;
    }

    /** Looks for a state that violates the invariant. */
    public Result search(S initial) {
        ArrayDeque<S> open = new ArrayDeque<>();
        origins.put(initial, new Origin<>(null, "begin"));
        open.add(initial);
        while (!open.isEmpty()) {
            S state = open.remove();
            String wrong = violation.apply(state);
            if (wrong != null) {
                return new Result(origins.size(), false, wrong + "\n" + story(state));
            }
            if (origins.size() >= statesMax) {
                return new Result(origins.size(), false, null);
            }
            for (Step<S> step : next.apply(state)) {
                before.computeIfAbsent(step.to(), s -> new ArrayList<>(2)).add(state);
                if (origins.putIfAbsent(step.to(), new Origin<>(state, step.what())) == null) {
                    open.add(step.to());
                }
            }
        }
        return new Result(origins.size(), true, null);
    }

    /**
     * After a complete search: a state from which no state of this kind can be reached any more, whatever happens, with
     * its story; null if there is none. So nothing can get stuck forever.
     */
    public @Nullable String stuck(Predicate<S> good) {
        Map<S, Boolean> canReach = new HashMap<>();
        ArrayDeque<S> open = new ArrayDeque<>();
        for (S state : origins.keySet()) {
            if (good.test(state)) {
                canReach.put(state, true);
                open.add(state);
            }
        }
        while (!open.isEmpty()) {
            for (S earlier : before.getOrDefault(open.remove(), List.of())) {
                if (canReach.putIfAbsent(earlier, true) == null) {
                    open.add(earlier);
                }
            }
        }
        String shortest = null;
        int fewest = Integer.MAX_VALUE;
        for (S state : origins.keySet()) {
            if (!canReach.containsKey(state)) {
                int steps = path(state).size();
                if (steps < fewest) {
                    fewest = steps;
                    shortest = story(state);
                }
            }
        }
        return shortest;
    }

    private String story(S state) {
        return String.join("\n", path(state)) + "\n" + state;
    }

    private List<String> path(S last) {
        List<String> steps = new ArrayList<>();
        for (S state = last; state != null; ) {
            Origin<S> origin = origins.get(state);
            if (origin == null) {
                break;
            }
            steps.add(origin.by());
            state = origin.from();
        }
        Collections.reverse(steps);
        return steps;
    }
}
