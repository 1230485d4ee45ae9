package io.holdfast.spring.call;

import io.holdfast.spring.declaration.LockedOperation;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/** Looks on while a locked method is called: the seam to Micrometer's observations, which may not be there. */
public interface CallWatch {

    /** What makes one for each call. */
    interface Source {
        CallWatch begin(LockedOperation operation, Collection<String> names);
    }

    Source NONE = (operation, names) -> new CallWatch() {
        @Override
        public void acquired() {}

        @Override
        public void ended(String outcome, @Nullable Throwable error) {}
    };

    void acquired();

    /** Once, whatever came before. */
    void ended(String outcome, @Nullable Throwable error);
}
