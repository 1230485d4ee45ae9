package io.holdfast.cdi;

import io.holdfast.LockTimeoutException;
import jakarta.interceptor.InvocationContext;
import org.jspecify.annotations.Nullable;

/** The ends of a call whose work is done once, as meters count them. */
enum OnceEnd {
    /** The method ran in this call. */
    DONE,
    /** The stored result was returned. */
    REPEATED,
    /** The key was used with another fingerprint. */
    CONFLICT,
    /** A call with the key ran for the whole wait time. */
    BUSY,
    /** The method or the database failed, and nothing stayed. */
    FAILED;

    private static final String DATA = OnceEnd.class.getName();

    /** Notes how the work of a call will have ended when its transaction is committed. */
    void note(InvocationContext call) {
        call.getContextData().put(DATA, this);
    }

    /** Returns what the call has noted; null if it did not come as far as to its transaction. */
    static @Nullable OnceEnd noted(InvocationContext call) {
        return (OnceEnd) call.getContextData().get(DATA);
    }

    /** Returns the end of a call that has failed; null for one that no meter counts. */
    static @Nullable OnceEnd failed(InvocationContext call, Throwable why) {
        OnceEnd noted = noted(call);
        if (noted == null) {
            return why instanceof LockTimeoutException ? BUSY : null;
        }
        // The commit fails after the method has run.
        return noted == CONFLICT ? CONFLICT : FAILED;
    }
}
