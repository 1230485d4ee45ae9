package io.holdfast.zookeeper;

import static org.awaitility.Awaitility.await;

import io.holdfast.testkit.ZooKeeperEnsemble;
import java.util.Random;
import org.apache.zookeeper.ZooKeeper;

/** What servers do by themselves, done by a test when it wants. */
final class ServerSide {

    /** With which servers make a session's password of its id (ZooKeeperServer.superSecret). */
    private static final long SECRET = 0xB3415C00L;

    private ServerSide() {}

    /** Ends a session, by a second connection for the same session: as the servers do after its time. */
    static void closeSession(ZooKeeperEnsemble servers, long session) throws Exception {
        byte[] password = new byte[16];
        new Random(session ^ SECRET).nextBytes(password);
        ZooKeeper second = new ZooKeeper(servers.servers(), 10_000, event -> {}, session, password);
        await().until(() -> second.getState().isConnected());
        second.close();
    }
}
