package io.holdfast.testkit.torture;

import io.holdfast.testkit.FaultProxy;
import io.holdfast.testkit.RedisServer;
import java.io.IOException;
import java.util.List;
import java.util.Random;

/** A Redis server of the torture's own, behind a proxy, and what can happen to it. */
public final class OwnRedis implements AutoCloseable {

    private final RedisServer server;
    private final FaultProxy proxy;

    private OwnRedis(RedisServer server) {
        this.server = server;
        this.proxy = FaultProxy.to(server.host(), server.port());
    }

    /** Starts it. It keeps its data in memory only: it loses them when it is killed. */
    public static OwnRedis start() {
        return new OwnRedis(RedisServer.start());
    }

    /** As workers reach it. */
    public String uri() {
        return proxy.uri();
    }

    /** For people. */
    public String describe() {
        return server.toString();
    }

    /** Everything that can happen to it. */
    public List<TortureFault> faults() {
        return List.of(
                fault("connections cut", random -> proxy.cutAll()),
                fault("network gone", random -> {
                    proxy.refuse(true);
                    proxy.cutAll();
                    Thread.sleep(random.nextInt(4_000));
                    proxy.refuse(false);
                }),
                fault("requests held up", random -> {
                    proxy.holdRequests(true);
                    Thread.sleep(random.nextInt(4_000));
                    proxy.holdRequests(false);
                }),
                fault("replies held up", random -> {
                    proxy.holdReplies(true);
                    Thread.sleep(random.nextInt(4_000));
                    proxy.holdReplies(false);
                }),
                fault("replies lost", random -> {
                    proxy.dropReplies(true);
                    Thread.sleep(random.nextInt(2_000));
                    proxy.dropReplies(false);
                    // Replies and requests do not match any more.
                    proxy.cutAll();
                }),
                fault("server paused", random -> {
                    server.pause();
                    Thread.sleep(random.nextInt(4_000));
                    server.resume();
                }),
                new TortureFault() {
                    @Override
                    public String name() {
                        return "server killed, its data lost";
                    }

                    @Override
                    public boolean losesData() {
                        return true;
                    }

                    @Override
                    public void make(Random random) {
                        server.kill();
                        server.restart();
                    }
                });
    }

    @Override
    public void close() {
        proxy.close();
        server.close();
    }

    private interface Making {
        void make(Random random) throws InterruptedException;
    }

    private static TortureFault fault(String name, Making making) {
        return new TortureFault() {
            @Override
            public String name() {
                return name;
            }

            @Override
            public void make(Random random) throws IOException, InterruptedException {
                making.make(random);
            }
        };
    }
}
