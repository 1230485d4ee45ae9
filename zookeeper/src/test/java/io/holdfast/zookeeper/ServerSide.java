package io.holdfast.zookeeper;

import static org.awaitility.Awaitility.await;

import io.holdfast.testkit.servers.ZooKeeperEnsemble;
import java.util.Random;
import org.apache.zookeeper.ZooKeeper;

/** Does on demand what servers do by themselves. */
final class ServerSide {

    /** The secret from which servers make a session's password (ZooKeeperServer.superSecret). */
    private static final long SECRET = 0xB3415C00L;

    private ServerSide() {}

    /** Ends a session as the servers do after its timeout, by a second connection of the same session. */
    static void closeSession(ZooKeeperEnsemble servers, long session) throws Exception {
        byte[] password = new byte[16];
        new Random(session ^ SECRET).nextBytes(password);
        ZooKeeper second = new ZooKeeper(servers.servers(), 10_000, event -> {}, session, password);
        await().until(() -> second.getState().isConnected());
        second.close();
    }
}
