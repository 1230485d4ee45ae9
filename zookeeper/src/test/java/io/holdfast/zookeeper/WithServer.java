package io.holdfast.zookeeper;

import io.holdfast.CardDetail;
import io.holdfast.LockClient;
import io.holdfast.testkit.servers.ZooKeeperEnsemble;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/** A server for the tests of a class. The clients that a test opens are closed after it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class WithServer {

    ZooKeeperEnsemble servers;
    final List<LockClient> clients = new ArrayList<>();

    @BeforeAll
    void startServer() {
        servers = ZooKeeperEnsemble.start(1);
    }

    @AfterAll
    void stopServer() {
        servers.close();
    }

    /** @param folder what follows the servers in the URI */
    LockClient open(String folder, CardDetail cards) {
        LockClient client =
                LockClient.builder().uri(servers.uri() + folder).cards(cards).build();
        clients.add(client);
        return client;
    }

    @AfterEach
    void closeClients() {
        clients.forEach(LockClient::close);
        clients.clear();
    }
}
