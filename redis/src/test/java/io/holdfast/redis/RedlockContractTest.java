package io.holdfast.redis;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.testkit.contract.LockStoreContract;
import io.holdfast.testkit.servers.RedisServer;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** The contract on quorums of real servers; of all the kinds that run on this machine, mixed. */
@ParameterizedClass(name = "{0} servers")
@MethodSource("numbers")
class RedlockContractTest extends LockStoreContract {

    private static final List<RedisServer> SERVERS = new ArrayList<>();

    RedlockContractTest(int number) {}

    static IntStream numbers() {
        return Boolean.getBoolean("holdfast.quick") ? IntStream.of(3) : IntStream.of(3, 5);
    }

    @BeforeParameterizedClassInvocation
    static void start(int number) {
        var installations = RedisServer.available();
        for (int i = 0; i < number; i++) {
            SERVERS.add(RedisServer.builder()
                    .installation(installations.get(i % installations.size()))
                    // One of them speaks RESP2, as RedisContractTest explains.
                    .args(RestrictedServiceTest.without(i == 0 ? new String[] {"HELLO"} : new String[0]))
                    .start());
        }
    }

    @AfterParameterizedClassInvocation
    static void stop() {
        SERVERS.forEach(RedisServer::close);
        SERVERS.clear();
    }

    @Override
    protected LockStore open(StoreContext context) {
        String hosts = SERVERS.stream()
                .map(server -> server.host() + ":" + server.port())
                .collect(Collectors.joining(","));
        // Patient, because this machine may be slow.
        return new RedlockProvider()
                .open(URI.create("redlock://" + hosts + "?bootstrap=true&memberTimeout=5s"), context);
    }

    @Override
    protected boolean hasQueue() {
        return false;
    }
}
