package io.holdfast.cli;

import io.holdfast.LockClient;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/**
 * A program that holds locks and waits for others, until it is ended. Prints "holds" once it holds all, and "waits"
 * before it waits.
 */
final class LockProgram {

    private LockProgram() {}

    /**
     * Runs the program.
     *
     * @param args URI, name of the client, names to hold, names to wait for when standard input ends; names are
     *     separated by commas, - is none. The thread that holds waits for a name that begins with an exclamation mark,
     *     and other threads wait for the others
     */
    @SuppressWarnings("MustBeClosedChecker")
    public static void main(String[] args) throws IOException, InterruptedException {
        LockClient client = LockClient.builder()
                .uri(args[0])
                .clientName(args[1])
                .leaseTime(Duration.ofSeconds(150))
                .build();
        for (String name : names(args[2])) {
            client.getLock(name).lock();
        }
        System.out.println("holds");
        // The end of standard input: all programs hold what they are to hold.
        System.in.transferTo(OutputStream.nullOutputStream());
        String[] waits = names(args[3]);
        for (String name : waits) {
            if (name.startsWith("!")) {
                continue;
            }
            Thread waiter = new Thread(() -> {
                try {
                    var unused = client.acquire(name);
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            waiter.start();
        }
        System.out.println("waits");
        for (String name : waits) {
            if (name.startsWith("!")) {
                client.getLock(name.substring(1)).lock();
            }
        }
        new CountDownLatch(1).await();
    }

    private static String[] names(String list) {
        return list.equals("-") ? new String[0] : list.split(",", -1);
    }
}
