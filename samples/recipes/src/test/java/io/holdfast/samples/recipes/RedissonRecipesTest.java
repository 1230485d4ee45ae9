package io.holdfast.samples.recipes;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Runs the variants that the page counts, so that it compares programs that work. */
class RedissonRecipesTest {

    private static RedissonClient redisson;

    private final RedissonRecipes recipes = new RedissonRecipes(redisson);
    private final List<String> done = new ArrayList<>();

    @BeforeAll
    static void open() {
        Config config = new Config();
        config.useSingleServer()
                .setAddress(Fleet.redisUri())
                .setConnectionMinimumIdleSize(2)
                .setConnectionPoolSize(4);
        redisson = Redisson.create(config);
    }

    @AfterAll
    static void close() {
        redisson.shutdown();
    }

    @Test
    void locks() throws Exception {
        Map<String, Long> numbers = new HashMap<>(Map.of("chair", 1L, "a", 10L, "b", 0L));
        RefundOnce.Ledger ledger = new RefundOnce.Ledger() {
            @Override
            public boolean hasRefund(String orderId) {
                return done.contains("recorded " + orderId);
            }

            @Override
            public void recordRefund(String orderId, long fencingToken) {
                done.add("recorded " + orderId);
            }
        };
        assertThat(recipes.refund("17", ledger, (order, key) -> done.add("paid " + order)))
                .isTrue();
        assertThat(recipes.refund("17", ledger, (order, key) -> done.add("paid " + order)))
                .isFalse();
        assertThat(done).containsExactly("paid 17", "recorded 17");

        Stock.Inventory inventory = new Stock.Inventory() {
            @Override
            public int left(String item) {
                return numbers.get(item).intValue();
            }

            @Override
            public void setLeft(String item, int left) {
                numbers.put(item, (long) left);
            }
        };
        assertThat(recipes.reserve("chair", 1, inventory)).isTrue();
        assertThat(recipes.reserve("chair", 1, inventory)).isFalse();

        Transfer.Accounts accounts = new Transfer.Accounts() {
            @Override
            public long balance(String account) {
                return numbers.get(account);
            }

            @Override
            public void setBalance(String account, long balance) {
                numbers.put(account, balance);
            }
        };
        assertThat(recipes.transfer("a", "b", 11, accounts)).isFalse();
        assertThat(recipes.transfer("a", "b", 7, accounts)).isTrue();
        assertThat(numbers).containsEntry("a", 3L).containsEntry("b", 7L);
    }

    @Test
    void jobs() throws Exception {
        assertThat(recipes.tick(() -> done.add("tick"))).isTrue();
        assertThat(recipes.make(LocalDate.EPOCH, day -> done.add("report"))).isTrue();
        // The lock is reentrant: the thread that made the report makes it again, and only other threads do not.
        assertThat(recipes.make(LocalDate.EPOCH, day -> done.add("second report")))
                .isTrue();
        CompletableFuture<Boolean> second = new CompletableFuture<>();
        Thread other = new Thread(() -> {
            try {
                second.complete(recipes.make(LocalDate.EPOCH, day -> done.add("third report")));
            } catch (InterruptedException e) {
                second.completeExceptionally(e);
            }
        });
        other.start();
        assertThat(second.get(10, SECONDS)).isFalse();
        recipes.run(new LongJob.Export() {
            @Override
            public boolean hasNextPage() {
                return !done.contains("page");
            }

            @Override
            public void writeNextPage(long fencingToken) {
                done.add("page");
            }

            @Override
            public void cancel() {}
        });
        assertThat(done).containsExactly("tick", "report", "second report", "page");
    }

    @Test
    void chain() throws Exception {
        AsyncChain.Billing billing = new AsyncChain.Billing() {
            @Override
            public CompletionStage<Integer> lastNumber(String customer) {
                return CompletableFuture.completedFuture(4);
            }

            @Override
            public CompletionStage<Integer> send(String customer, int number, long fencingToken) {
                return CompletableFuture.completedFuture(number);
            }
        };
        for (int i = 0; i < 2; i++) {
            assertThat(recipes.sendInvoice("c1", billing).toCompletableFuture().get(10, SECONDS))
                    .isEqualTo(5);
        }
    }

    @Test
    void leader() throws Exception {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch stopped = new CountDownLatch(1);
        Thread thread = new Thread(() -> {
            try {
                recipes.lead(fencingToken -> {
                    started.countDown();
                    try {
                        new CountDownLatch(1).await();
                    } catch (InterruptedException e) {
                        stopped.countDown();
                    }
                });
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        thread.start();
        assertThat(started.await(10, SECONDS)).isTrue();
        thread.interrupt();
        assertThat(stopped.await(10, SECONDS)).isTrue();
        thread.join(10_000);
        assertThat(thread.isAlive()).isFalse();
    }

    @Test
    void caches_file_and_permits(@TempDir Path folder) throws Exception {
        Map<String, String> values = new HashMap<>();
        SharedCache.Cache cache = new SharedCache.Cache() {
            @Override
            public String get(String key) {
                return values.get(key);
            }

            @Override
            public void put(String key, String value) {
                values.put(key, value);
            }
        };
        assertThat(recipes.get("k", cache, key -> "value of " + key)).isEqualTo("value of k");
        assertThat(values).containsEntry("k", "value of k");

        Path file = folder.resolve("log.txt");
        recipes.update(file, text -> text + "line");
        assertThat(file).hasContent("line");

        for (int i = 0; i < 3; i++) {
            assertThat(recipes.acquire("permits")).isNotEmpty();
        }
        assertThat(redisson.getPermitExpirableSemaphore("permits").tryAcquire()).isNull();

        PricesTest.Values prices = new PricesTest.Values();
        Prices.Database database = new Prices.Database() {
            @Override
            public String price(String item) {
                return "10";
            }

            @Override
            public void setPrice(String item, String price, long fencingToken) {
                done.add(item + " " + price);
            }
        };
        assertThat(recipes.price("chair", prices, database)).isEqualTo("10");
        assertThat(prices.get("chair")).isEqualTo("10");
        recipes.change("chair", "20", prices, database);
        assertThat(done).containsExactly("chair 20");
        assertThat(prices.get("chair")).isNull();
        assertThat(redisson.getReadWriteLock("prices").readLock().isLocked()).isFalse();
    }
}
