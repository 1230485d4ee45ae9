package io.holdfast.spi;

import org.jspecify.annotations.Nullable;

/** Is told what became of renewals that were sent together. Short, does not block, does not throw; called on any thread. */
@FunctionalInterface
public interface RenewAnswers {

    /**
     * The answer to one of them: a reply or an error.
     *
     * @param index of the request in its list
     */
    void answered(int index, @Nullable RenewReply reply, @Nullable Throwable error);
}
