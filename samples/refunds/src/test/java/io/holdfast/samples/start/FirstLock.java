package io.holdfast.samples.start;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import java.time.Duration;

public class FirstLock {

    public static void main(String[] args) throws Exception {
        String uri = args.length > 0 ? args[0] : "jdbc:h2:./locks;AUTO_SERVER=TRUE;createTable=true";
        try (LockClient locks = LockClient.connect(uri)) { // one for the whole process; it is thread-safe
            LockOptions options = LockOptions.defaults().waitAtMost(Duration.ofSeconds(10));
            try (Lease lease = locks.acquire("order:refund:12345", options)) {
                System.out.println("Refunding under token " + lease.fencingToken() + ". Enter releases the lock.");
                System.in.read();
            } catch (LockTimeoutException e) {
                System.out.println("Another process is refunding this order: " + e.getMessage());
            }
        }
    }
}
