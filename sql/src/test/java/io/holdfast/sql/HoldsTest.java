package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.record.NameMessage;
import io.holdfast.spi.PushedGrant;
import org.junit.jupiter.api.Test;

class HoldsTest {

    private final Holds holds = new Holds();
    private final Receivers receivers = new Receivers(holds);

    private void granted(String holderId) {
        receivers.deliver(
                false,
                new NameMessage.Granted(
                        new PushedGrant("a", holderId, 7, 0, 1_000, PushedGrant.NO_NONCE, 0, PushedGrant.ALWAYS)));
    }

    @Test
    void aGrantOfAnIdThatWaitsIsKnown() {
        holds.waits("hf-a:1");
        granted("hf-a:1");
        assertThat(holds.get(LockKey.of("a"), "hf-a:1")).isNotNull();
        holds.end(LockKey.of("a"), "hf-a:1");
        assertThat(holds.ids()).isEmpty();
    }

    /** The client had asked, learned of the grant by the answer, and released: nobody would end the hold again. */
    @Test
    void aMessageThatComesAfterTheReleaseIsForgotten() {
        holds.waits("hf-a:1");
        holds.put(new Holds.Held("a", LockKey.of("a"), "hf-a:1", false, 7, 0));
        holds.end(LockKey.of("a"), "hf-a:1");
        granted("hf-a:1");
        assertThat(holds.ids()).isEmpty();
    }
}
