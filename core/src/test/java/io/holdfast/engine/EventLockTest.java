package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class EventLockTest {

    private static final class Named extends EventLock<String> {

        private static final long serialVersionUID = 1;

        @Override
        public String name() {
            return "a";
        }

        @Override
        String state() {
            return "state";
        }

        @Override
        void settle() {}
    }

    @Test
    void an_effect_that_fails_keeps_no_other_from_those_who_wait_for_it() {
        Named lock = new Named();
        List<String> done = new ArrayList<>();
        try (Warnings warnings = new Warnings()) {
            lock.handle(state -> {
                lock.later(() -> done.add("first"));
                lock.later(() -> {
                    throw new IllegalStateException("defect");
                });
                lock.later(() -> done.add("last"));
            });
            assertThat(warnings.said()).containsExactly("Effect of an event for the lock \"a\" failed");
        }
        assertThat(done).containsExactly("first", "last");
    }
}
