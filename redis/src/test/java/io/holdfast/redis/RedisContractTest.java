package io.holdfast.redis;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.testkit.contract.LockStoreContract;
import io.holdfast.testkit.servers.Installation;
import io.holdfast.testkit.servers.RedisServer;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** The contract on every server that runs on this machine. */
@ParameterizedClass(name = "{0}")
@MethodSource("servers")
class RedisContractTest extends LockStoreContract {

    /** A server and how it is started. */
    record Variant(Installation installation, List<String> args, String label) {
        @Override
        public String toString() {
            return label;
        }
    }

    private static RedisServer server;

    RedisContractTest(Variant variant) {}

    static List<Variant> servers() {
        List<Variant> variants = new ArrayList<>();
        for (Installation installation : RedisServer.available()) {
            variants.add(new Variant(installation, List.of(), installation.label()));
        }
        // Before 6.0 there is no HELLO, and connections speak RESP2, where messages come between replies.
        if (!Boolean.getBoolean("holdfast.quick")) { // quick: one of the servers of RedlockContractTest
            Installation first = RedisServer.available().get(0);
            variants.add(
                    new Variant(first, List.of("--rename-command", "HELLO", ""), first.label() + " without HELLO"));
        }
        return variants;
    }

    @BeforeParameterizedClassInvocation
    static void start(Variant variant) {
        server = RedisServer.builder()
                .installation(variant.installation())
                .args(variant.args().toArray(new String[0]))
                .start();
    }

    @AfterParameterizedClassInvocation
    static void stop() {
        server.close();
    }

    @Override
    protected LockStore open(StoreContext context) {
        return new RedisLockStoreProvider().open(URI.create(server.uri()), context);
    }

    @Override
    protected boolean timesGrants() {
        return true;
    }
}
