package io.holdfast.samples.recipes;

import io.holdfast.LockClient;
import io.holdfast.MultiLease;
import java.util.List;

/** Moves money between two accounts. */
final class Transfer {

    /** Where the balances are kept. */
    interface Accounts {
        long balance(String account);

        void setBalance(String account, long balance);
    }

    private final LockClient locks;
    private final Accounts accounts;

    Transfer(LockClient locks, Accounts accounts) {
        this.locks = locks;
        this.accounts = accounts;
    }

    /** Returns false if the balance is too small. */
    boolean transfer(String from, String to, long amount) throws InterruptedException {
        try (MultiLease leases = locks.acquireAll(List.of("account:" + from, "account:" + to))) {
            long balance = accounts.balance(from);
            if (balance < amount) {
                return false;
            }
            leases.ensureValid();
            accounts.setBalance(from, balance - amount);
            accounts.setBalance(to, accounts.balance(to) + amount);
            return true;
        }
    }
}
