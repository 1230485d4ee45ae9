package io.holdfast.redis;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.testkit.LockStoreContract;
import io.holdfast.testkit.RedisServer;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The contract on quorums of real servers; of all the kinds that run on this machine, mixed. Without scripts, and with
 * clients with scripts and without at once. {@code -Dholdfast.matrix=true} runs it also with scripts alone, and each of
 * these with 3 and with 5.
 */
@ParameterizedClass(name = "{0} servers, {1}")
@MethodSource("quorums")
class RedlockContractTest extends LockStoreContract {

    private static final List<RedisServer> SERVERS = new ArrayList<>();

    private final String modes;
    private int opened;

    RedlockContractTest(int number, String modes) {
        this.modes = modes;
    }

    static List<Arguments> quorums() {
        List<Arguments> quorums =
                new ArrayList<>(List.of(Arguments.of(3, "commands"), Arguments.of(5, "lua and commands")));
        if (Boolean.getBoolean("holdfast.matrix")) {
            quorums.addAll(List.of(
                    Arguments.of(3, "lua"),
                    Arguments.of(5, "lua"),
                    Arguments.of(5, "commands"),
                    Arguments.of(3, "lua and commands")));
        }
        return quorums;
    }

    @BeforeParameterizedClassInvocation
    static void start(int number, String modes) {
        var installations = RedisServer.available();
        for (int i = 0; i < number; i++) {
            SERVERS.add(RedisServer.builder()
                    .installation(installations.get(i % installations.size()))
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
        String mode = modes.length() < 10 ? modes : opened++ % 2 == 0 ? "lua" : "commands";
        return new RedlockProvider()
                .open(URI.create("redlock://" + hosts + "?bootstrap=true&memberTimeout=5s&mode=" + mode), context);
    }

    @Override
    protected boolean hasQueue() {
        return false;
    }
}
