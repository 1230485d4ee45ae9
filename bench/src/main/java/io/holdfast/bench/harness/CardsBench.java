package io.holdfast.bench.harness;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.redis.RedisStores;
import io.holdfast.spi.CardStore;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import io.holdfast.testkit.servers.RedisServer;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * Measures what the cards of many clients cost a Redis server: {@code bench/run cards}. The text is the card of a real
 * client that holds a thousand locks. The other clients only keep cards, by the store's own code and at the period that
 * a client would have. So a machine of two cores can have a thousand of them.
 */
public final class CardsBench {

    private static final int HELD = 1_000;
    private static final Duration KEEP = Duration.ofMinutes(1);
    private static final int SECONDS = 20;

    private CardsBench() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        try (RedisServer server = RedisServer.start()) {
            String text = text(server);
            System.out.println("Card of a client that holds " + HELD + " locks: " + text.length() + " characters; "
                    + server.installation() + "\n");
            System.out.println("| clients | cards | commands/s | kB/s to the server | server CPU ms/s |");
            System.out.println("| ---: | --- | ---: | ---: | ---: |");
            for (int clients : new int[] {1, 100, 1_000}) {
                measure(server, clients, text);
            }
        }
    }

    private static String text(RedisServer server) throws InterruptedException {
        try (LockClient client =
                LockClient.builder().uri(server.uri()).clientName("billing").build()) {
            List<Lease> kept = new ArrayList<>();
            for (int i = 0; i < HELD; i++) {
                kept.add(client.acquire("order:refund:" + (10_000 + i)));
            }
            // The first card comes after five seconds.
            String card = "";
            while (!card.contains("\t" + HELD + "\t")) {
                Thread.sleep(500);
                card = String.valueOf(server.command("GET", "holdfast:card:" + client.id()));
            }
            kept.forEach(Lease::close);
            return card.substring(card.indexOf('\n') + 1);
        }
    }

    private static void measure(RedisServer server, int clients, String text) throws IOException, InterruptedException {
        ClientResources threads = ClientResources.create();
        List<LockStore> stores = new ArrayList<>();
        try (ServerMeter meter = new ServerMeter(server)) {
            for (int i = 0; i < clients; i++) {
                stores.add(RedisStores.standalone(RedisURI.create(server.uri()))
                        .clientResources(threads)
                        .open(new StoreContext("hf-bench-" + i, TimeSource.system())));
            }
            List<CardStore> cards =
                    stores.stream().map(store -> store.cards().orElseThrow()).toList();
            CompletableFuture.allOf(cards.stream()
                            .map(card -> card.write(text, KEEP).toCompletableFuture())
                            .toArray(CompletableFuture[]::new))
                    .join();
            print(clients, "none", window(meter));
            print(
                    clients,
                    "unchanged",
                    during(cards, meter, card -> card.keep(KEEP).toCompletableFuture()));
            print(
                    clients,
                    "new each period",
                    during(cards, meter, card -> card.write(text, KEEP).toCompletableFuture()));
        } finally {
            stores.forEach(LockStore::close);
            threads.shutdown(0, 0, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    @FunctionalInterface
    private interface Update {
        CompletableFuture<?> of(CardStore card);
    }

    private static ServerMeter.Load during(List<CardStore> cards, ServerMeter meter, Update update)
            throws IOException, InterruptedException {
        long periodNanos =
                Duration.ofMillis(Math.max(5_000, cards.size() * 10L)).toNanos();
        List<CompletableFuture<?>> sent = new ArrayList<>();
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
        ServerMeter.Load load;
        List<ScheduledFuture<?>> writers = new ArrayList<>();
        try {
            for (int i = 0; i < cards.size(); i++) {
                CardStore card = cards.get(i);
                writers.add(timer.scheduleAtFixedRate(
                        () -> sent.add(update.of(card)),
                        periodNanos * i / cards.size(),
                        periodNanos,
                        TimeUnit.NANOSECONDS));
            }
            load = window(meter);
        } finally {
            writers.forEach(writer -> writer.cancel(false));
            timer.shutdown();
        }
        if (!timer.awaitTermination(10, TimeUnit.SECONDS)) {
            throw new IllegalStateException("cards are being written still");
        }
        CompletableFuture.allOf(sent.toArray(CompletableFuture[]::new)).join();
        return load;
    }

    private static ServerMeter.Load window(ServerMeter meter) throws IOException, InterruptedException {
        meter.start();
        Thread.sleep(SECONDS * 1_000L);
        return meter.stop();
    }

    private static void print(int clients, String cards, ServerMeter.Load load) {
        long commands =
                load.commands().values().stream().mapToLong(Long::longValue).sum();
        System.out.printf(
                "| %,d | %s | %.1f | %.1f | %.2f |%n",
                clients,
                cards,
                commands / (double) SECONDS,
                load.bytesIn() / 1e3 / SECONDS,
                load.cpuMicros() / 1e3 / SECONDS);
    }
}
