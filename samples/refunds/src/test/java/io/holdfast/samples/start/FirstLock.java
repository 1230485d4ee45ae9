package io.holdfast.samples.start;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import java.time.Duration;

public class FirstLock {

    public static void main(String[] args) throws InterruptedException {
        // One client for the whole process. It is thread-safe.
        try (LockClient locks = LockClient.connect(args[0])) {
            LockOptions options = LockOptions.defaults().waitAtMost(Duration.ofSeconds(10));
            try (Lease lease = locks.acquire("order:refund:12345", options)) {
                System.out.println("Refunding under token " + lease.fencingToken());
            } catch (LockTimeoutException e) {
                System.out.println("Another process is refunding this order: " + e.getMessage());
            }
        }
    }
}
