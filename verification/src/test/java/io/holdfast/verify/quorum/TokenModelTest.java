package io.holdfast.verify.quorum;

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

    @Test
    void a_token_that_only_members_which_grant_the_lock_commit_is_larger_than_that_of_the_lease_before() {
        TokenModel.Result result =
                TokenModel.inTheOrderOfLeases(new TokenScheme.Strict(), false).explore();
        System.out.printf("in the order of leases: %,d states; no violation%n", result.states());
        assertThat(result.violation()).isNull();
        assertThat(result.states()).isGreaterThan(10_000);
    }

    /** The product's rule until the simulation of a million histories showed this. */
    @Test
    void a_token_that_any_member_commits_may_be_smaller_than_that_of_the_lease_before() {
        assertThat(found(TokenModel.inTheOrderOfLeases(new TokenScheme.Strict(), true)))
                .contains("of a lease after");
    }

    private static String found(TokenScheme scheme) {
        return found(new TokenModel(scheme));
    }

    private static String found(TokenModel model) {
        TokenModel.Result result = model.explore();
        System.out.println("found after " + result.states() + " states: " + result.violation());
        result.steps().forEach(step -> System.out.println("    " + step));
        return String.valueOf(result.violation());
    }
}
