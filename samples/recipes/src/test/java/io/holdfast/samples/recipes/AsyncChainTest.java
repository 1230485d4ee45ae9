package io.holdfast.samples.recipes;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;

class AsyncChainTest {

    @Test
    void each_invoice_has_its_own_number() throws Exception {
        assertThat(numbers(Fleet.of(4))).doesNotHaveDuplicates().hasSize(12);
    }

    @Test
    void without_the_lock_invoices_have_the_same_number() throws Exception {
        assertThat(numbers(Fleet.withoutCommonStore(4)).stream().distinct().count())
                .isLessThan(12);
    }

    /** Returns the numbers of the invoices when each of four nodes sends three at once. */
    private static List<Integer> numbers(Fleet fleet) throws Exception {
        SlowBilling billing = new SlowBilling();
        try (fleet) {
            List<List<Integer>> all = fleet.all((locks, node) -> {
                AsyncChain chain = new AsyncChain(locks, billing);
                List<CompletionStage<Integer>> sent = new ArrayList<>();
                for (int i = 0; i < 3; i++) {
                    sent.add(chain.sendInvoice("c1"));
                }
                List<Integer> numbers = new ArrayList<>();
                for (CompletionStage<Integer> one : sent) {
                    numbers.add(one.toCompletableFuture().get(10, SECONDS));
                }
                return numbers;
            });
            return all.stream().flatMap(List::stream).toList();
        }
    }

    private static final class SlowBilling implements AsyncChain.Billing {

        private final Executor later = CompletableFuture.delayedExecutor(10, MILLISECONDS);
        private volatile int last;

        @Override
        public CompletionStage<Integer> lastNumber(String customer) {
            return CompletableFuture.supplyAsync(() -> last, later);
        }

        @Override
        public CompletionStage<Integer> send(String customer, int number, long fencingToken) {
            return CompletableFuture.supplyAsync(
                    () -> {
                        last = number;
                        return number;
                    },
                    later);
        }
    }
}
