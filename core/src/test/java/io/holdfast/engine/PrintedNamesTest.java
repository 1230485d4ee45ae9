package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.DistributedLock;
import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A name with a line feed makes no second line in a message; in the API it stays what it is. */
class PrintedNamesTest {

    private static final String NAME = "a\nERROR forged";

    @Test
    void namesAreWrittenOutInMessages() throws Exception {
        try (LockClient one = LockClient.connect("memory:printed-names");
                LockClient two = LockClient.connect("memory:printed-names")) {
            Lease held = one.acquire(NAME);
            assertThat(held.name()).isEqualTo(NAME);
            assertThat(two.inspect(NAME).name()).isEqualTo(NAME);
            assertThatThrownBy(() -> two.acquire(NAME, LockOptions.defaults().waitAtMost(Duration.ZERO)))
                    .hasMessageContaining("a\\u000aERROR forged")
                    .hasMessageNotContaining("\n");
            DistributedLock lock = two.getLock(NAME);
            assertThat(lock).asString().doesNotContain("\n");
            assertThatThrownBy(lock::unlock)
                    .hasMessageContaining("a\\u000aERROR forged")
                    .hasMessageNotContaining("\n");
            one.forceRelease(NAME);
            assertThatThrownBy(held::release)
                    .isInstanceOf(LeaseLostException.class)
                    .hasMessageNotContaining("\n");
        }
    }
}
