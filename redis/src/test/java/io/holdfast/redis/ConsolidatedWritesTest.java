package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.testkit.servers.RedisServer;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Commands that are ready at the same time cost one write to the socket, not one each. */
class ConsolidatedWritesTest {

    private static final int LOCKS = 100;

    private final Queue<Channel> channels = new ConcurrentLinkedQueue<>();
    private final AtomicInteger writes = new AtomicInteger();

    @Test
    void commands_that_are_ready_go_in_few_writes() throws Exception {
        ClientResources resources = ClientResources.builder()
                .ioThreadPoolSize(2)
                .computationThreadPoolSize(2)
                .nettyCustomizer(new NettyCustomizer() {
                    @Override
                    public void afterChannelInitialized(Channel channel) {
                        channels.add(channel);
                    }
                })
                .build();
        try (RedisServer server = RedisServer.start();
                LockClient locks = LockClient.builder()
                        .store(RedisStores.standalone(RedisURI.create(server.uri()))
                                .clientResources(resources)::open)
                        .build()) {
            // All scripts are known to the server, and each connection is open.
            locks.acquire("first").release();
            CountDownLatch queued = new CountDownLatch(1);
            for (Channel channel : channels) {
                channel.pipeline().addFirst(new CountingWrites());
                channel.eventLoop().execute(() -> awaitQuietly(queued));
            }
            List<CompletionStage<Lease>> acquired = new ArrayList<>();
            for (int i = 0; i < LOCKS; i++) {
                acquired.add(locks.acquireAsync("lock-" + i));
            }
            queued.countDown();
            for (CompletionStage<Lease> lease : acquired) {
                lease.toCompletableFuture().get(20, TimeUnit.SECONDS);
            }
            assertThat(writes).hasValueBetween(1, LOCKS / 5);
        } finally {
            resources.shutdown(0, 5, TimeUnit.SECONDS).get(20, TimeUnit.SECONDS);
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await(20, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** What it sees is a system call each. */
    private final class CountingWrites extends ChannelOutboundHandlerAdapter {

        @Override
        public void flush(ChannelHandlerContext context) {
            writes.incrementAndGet();
            context.flush();
        }
    }
}
