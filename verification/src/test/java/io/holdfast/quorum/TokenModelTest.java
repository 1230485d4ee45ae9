package io.holdfast.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** All interleavings of the agreement on tokens: the product's is right, and the model can tell. */
class TokenModelTest {

    @Test
    void strict_write_back_hands_out_unique_and_growing_tokens() {
        long began = System.nanoTime();
        TokenModel.Result result = new TokenModel(new TokenScheme.Strict()).explore();
        System.out.printf(
                "strict write-back: %,d states, all of them, in %.1f s; no violation%n",
                result.states(), (System.nanoTime() - began) / 1e9);
        assertThat(result.violation()).isNull();
        // One that never gets anywhere is right, too.
        assertThat(result.states()).isGreaterThan(10_000);
    }

    @Test
    void the_maximum_of_counters_gives_a_token_twice() {
        assertThat(found(new TokenScheme.MaximumOfCounters())).contains("twice");
    }

    @Test
    void an_unconditional_write_back_gives_a_token_below_or_equal_to_another() {
        assertThat(found(new TokenScheme.UnconditionalWriteBack())).isNotEmpty();
    }

    @Test
    void a_write_back_only_while_holding_gives_a_token_twice() {
        assertThat(found(new TokenScheme.WriteBackWhileHolding())).contains("twice");
    }

    private static String found(TokenScheme scheme) {
        TokenModel.Result result = new TokenModel(scheme).explore();
        System.out.println("found in " + scheme.getClass().getSimpleName() + " after " + result.states() + " states: "
                + result.violation());
        result.steps().forEach(step -> System.out.println("    " + step));
        return String.valueOf(result.violation());
    }
}
