package io.holdfast.leader;

import io.holdfast.Term;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The terms in which the calling thread runs: for a check before a commit, and for a close of the application by such a
 * thread, which must not wait for itself.
 */
public final class LeaderThreads {

    private static final ThreadLocal<@Nullable Deque<Inside>> CURRENT = new ThreadLocal<>();

    private LeaderThreads() {}

    /** @param leave ends the call for the revocation, which then does not wait for it */
    private record Inside(Term term, Runnable leave) {}

    /** Work that may throw. */
    @FunctionalInterface
    interface Work<E extends Throwable> {
        @Nullable
        Object run() throws E;
    }

    static <E extends Throwable> @Nullable Object in(Term term, Runnable leave, Work<E> work) throws E {
        Deque<Inside> all = CURRENT.get();
        if (all == null) {
            all = new ArrayDeque<>();
            CURRENT.set(all);
        }
        all.push(new Inside(term, leave));
        try {
            return work.run();
        } finally {
            all.pop();
            if (all.isEmpty()) {
                CURRENT.remove();
            }
        }
    }

    /** Ends the calls of this thread for revocations: the thread closes what it runs in. */
    public static void leave() {
        Deque<Inside> all = CURRENT.get();
        if (all != null) {
            List.copyOf(all).forEach(each -> each.leave.run());
        }
    }

    /** Returns the terms in which the calling thread runs. */
    public static List<Term> terms() {
        Deque<Inside> all = CURRENT.get();
        return all == null ? List.of() : all.stream().map(Inside::term).toList();
    }

    /**
     * Refuses a commit whose term is over.
     *
     * @throws io.holdfast.LeaseLostException if a term of the calling thread is lost
     * @throws IllegalStateException if it was released, because the call did not end in time
     */
    public static void ensureValid() {
        terms().forEach(Term::ensureValid);
    }
}
