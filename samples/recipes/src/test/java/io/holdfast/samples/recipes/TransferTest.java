package io.holdfast.samples.recipes;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;

class TransferTest {

    @Test
    void transfers_in_both_directions_end_and_keep_the_sum() throws Exception {
        assertThat(balances(Fleet.of(4))).containsExactlyInAnyOrderEntriesOf(Map.of("a", 100L, "b", 100L));
    }

    @Test
    void without_the_lock_transfers_are_lost() throws Exception {
        Map<String, Long> balances = Map.of();
        // The nodes may happen to take turns.
        for (int round = 0; round < 100; round++) {
            balances = balances(Fleet.withoutCommonStore(4));
            if (!balances.equals(Map.of("a", 100L, "b", 100L))) {
                return;
            }
        }
        assertThat(balances).as("in each of 100 rounds").isNotEqualTo(Map.of("a", 100L, "b", 100L));
    }

    @Test
    void a_balance_that_is_too_small_is_refused() throws Exception {
        Accounts accounts = new Accounts();
        try (Fleet fleet = Fleet.of(1)) {
            assertThat(new Transfer(fleet.node(0), accounts).transfer("a", "b", 101))
                    .isFalse();
        }
        assertThat(accounts.balances).containsEntry("a", 100L).containsEntry("b", 100L);
    }

    /** Returns the balances after two nodes have transferred 5 x 7 from a to b, and two as much from b to a. */
    private static Map<String, Long> balances(Fleet fleet) throws Exception {
        Accounts accounts = new Accounts();
        try (fleet) {
            fleet.all((locks, node) -> {
                Transfer transfer = new Transfer(locks, accounts);
                for (int i = 0; i < 5; i++) {
                    transfer.transfer(node % 2 == 0 ? "a" : "b", node % 2 == 0 ? "b" : "a", 7);
                }
                return null;
            });
        }
        return accounts.balances;
    }

    private static final class Accounts implements Transfer.Accounts {

        final Map<String, Long> balances = new ConcurrentHashMap<>(Map.of("a", 100L, "b", 100L));

        @Override
        public long balance(String account) {
            long found = balances.get(account);
            Fleet.pause();
            return found;
        }

        @Override
        public void setBalance(String account, long balance) {
            balances.put(account, balance);
        }
    }
}
