package io.holdfast.jdbc;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.UUID;
import java.util.concurrent.CyclicBarrier;

/** Does the work of one key after the other, in two threads that ask for the same key, until it is killed. */
final class KilledWorker {

    /** The exit code of a process that failed and was not killed. */
    static final int FAILED = 3;

    private KilledWorker() {}

    public static void main(String[] args) throws Exception {
        String url = args[0];
        String run = args[1];
        int first = Integer.parseInt(args[2]);
        CyclicBarrier together = new CyclicBarrier(2);
        Thread second = new Thread(() -> work(url, run, first, together));
        second.setDaemon(true);
        second.start();
        work(url, run, first, together);
    }

    private static void work(String url, String run, int first, CyclicBarrier together) {
        try (Connection connection = DriverManager.getConnection(url)) {
            connection.setAutoCommit(false);
            for (int i = first; ; i++) {
                together.await();
                String key = run + ":" + i;
                JdbcOnce.defaults().run(connection, key, "", inside -> effect(inside, key));
                connection.commit();
                System.out.println("done " + i + ".");
            }
        } catch (Exception e) {
            e.printStackTrace();
            Runtime.getRuntime().halt(FAILED);
        }
    }

    private static String effect(Connection connection, String key) throws SQLException {
        String attempt = UUID.randomUUID().toString();
        try (PreparedStatement insert =
                connection.prepareStatement("INSERT INTO killed_effects (id, attempt) VALUES (?, ?)")) {
            insert.setString(1, key);
            insert.setString(2, attempt);
            insert.executeUpdate();
        }
        return attempt;
    }
}
