package io.holdfast.samples.recipes;

import static java.util.concurrent.TimeUnit.DAYS;
import static java.util.concurrent.TimeUnit.SECONDS;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.LocalDate;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;

/** The recipes as a user of Redisson writes them. The comment before each is its heading in docs/recipes.md. */
@SuppressWarnings("FutureReturnValueIgnored") // those of unlockAsync and of the schedule
record RedissonRecipes(RedissonClient redisson) {

    // --- Refund once
    boolean refund(String orderId, RefundOnce.Ledger ledger, RefundOnce.Payments payments) {
        RFencedLock lock = redisson.getFencedLock("order:refund:" + orderId);
        long token = lock.lockAndGetToken();
        try {
            if (ledger.hasRefund(orderId)) {
                return false;
            }
            payments.payBack(orderId, "refund:" + orderId);
            ledger.recordRefund(orderId, token);
            return true;
        } finally {
            lock.unlock();
        }
    }

    // --- Never oversell
    boolean reserve(String item, int quantity, Stock.Inventory inventory) {
        RLock lock = redisson.getLock("stock:" + item);
        lock.lock();
        try {
            int left = inventory.left(item);
            if (left < quantity) {
                return false;
            }
            inventory.setLeft(item, left - quantity);
            return true;
        } finally {
            lock.unlock();
        }
    }

    // --- A long job
    void run(LongJob.Export export) {
        RFencedLock lock = redisson.getFencedLock("export:orders");
        long token = lock.lockAndGetToken();
        try {
            while (export.hasNextPage()) {
                if (!lock.isHeldByCurrentThread()) {
                    throw new IllegalStateException("The lock is lost");
                }
                export.writeNextPage(token);
            }
        } finally {
            lock.unlock();
        }
    }

    // --- An asynchronous chain
    CompletionStage<Integer> sendInvoice(String customer, AsyncChain.Billing billing) {
        RFencedLock lock = redisson.getFencedLock("invoice:" + customer);
        long owner = ThreadLocalRandom.current().nextLong(Long.MAX_VALUE);
        return lock.lockAsync(owner)
                .thenCompose(locked -> lock.getTokenAsync()
                        .thenCompose(token -> billing.lastNumber(customer)
                                .thenCompose(last -> billing.send(customer, last + 1, token)))
                        .whenComplete((number, failure) -> lock.unlockAsync(owner)));
    }

    // --- A job on one node
    boolean tick(Runnable cleanup) {
        RLock lock = redisson.getLock("job:cleanup");
        if (!lock.tryLock()) {
            return false;
        }
        try {
            cleanup.run();
            return true;
        } finally {
            lock.unlock();
        }
    }

    // --- Once a day over the fleet
    boolean make(LocalDate day, Consumer<LocalDate> report) throws InterruptedException {
        RLock lock = redisson.getLock("report:" + day);
        if (!lock.tryLock(0, 2, DAYS)) {
            return false;
        }
        try {
            report.accept(day);
            return true;
        } catch (RuntimeException e) {
            lock.unlock();
            throw e;
        }
    }

    // --- A transfer between two accounts
    boolean transfer(String from, String to, long amount, Transfer.Accounts accounts) {
        RLock lock = redisson.getMultiLock(redisson.getLock("account:" + from), redisson.getLock("account:" + to));
        lock.lock();
        try {
            long balance = accounts.balance(from);
            if (balance < amount) {
                return false;
            }
            accounts.setBalance(from, balance - amount);
            accounts.setBalance(to, accounts.balance(to) + amount);
            return true;
        } finally {
            lock.unlock();
        }
    }

    // --- A cache that one node reloads
    String get(String key, SharedCache.Cache cache, SharedCache.Source source) throws InterruptedException {
        String cached = cache.get(key);
        if (cached != null) {
            return cached;
        }
        RLock lock = redisson.getLock("cache:" + key);
        try {
            if (!lock.tryLock(2, SECONDS)) {
                return source.load(key);
            }
        } catch (RedisException e) {
            return source.load(key);
        }
        try {
            String value = cache.get(key);
            if (value == null) {
                value = source.load(key);
                cache.put(key, value);
            }
            return value;
        } finally {
            lock.unlock();
        }
    }

    // --- A leader
    void lead(ScheduledReports.Report report) throws InterruptedException {
        RFencedLock lock = redisson.getFencedLock("leader:reports");
        while (true) {
            try {
                lock.lockInterruptibly();
                ScheduledExecutorService scheduler = Executors.newSingleThreadScheduledExecutor();
                try {
                    long token = lock.getToken();
                    scheduler.scheduleWithFixedDelay(() -> report.write(token), 0, 1, SECONDS);
                    while (lock.isHeldByCurrentThread()) {
                        Thread.sleep(1_000);
                    }
                } finally {
                    scheduler.shutdownNow();
                    scheduler.awaitTermination(1, DAYS);
                    if (lock.isHeldByCurrentThread()) {
                        lock.unlock();
                    }
                }
            } catch (RedisException e) {
                Thread.sleep(1_000);
            }
        }
    }

    // --- A file that one node writes
    void update(Path file, UnaryOperator<String> change) throws IOException {
        RFencedLock lock = redisson.getFencedLock("file:" + file);
        long token = lock.lockAndGetToken();
        try {
            String changed = change.apply(Files.exists(file) ? Files.readString(file) : "");
            Path next = file.resolveSibling(file.getFileName() + "." + token);
            Files.writeString(next, changed);
            if (!lock.isHeldByCurrentThread()) {
                throw new IllegalStateException("The lock is lost");
            }
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            lock.unlock();
        }
    }

    // --- Permits
    String acquire(String name) throws InterruptedException {
        RPermitExpirableSemaphore permits = redisson.getPermitExpirableSemaphore(name);
        permits.trySetPermits(3);
        return permits.acquire();
    }

    // --- A cache with readers
    String price(String item, Prices.Cache cache, Prices.Database database) {
        String cached = cache.get(item);
        if (cached != null) {
            return cached;
        }
        RLock lock = redisson.getReadWriteLock("prices").readLock();
        lock.lock();
        try {
            String price = database.price(item);
            if (!lock.isHeldByCurrentThread()) {
                throw new IllegalStateException("The lock is lost");
            }
            cache.put(item, price);
            return price;
        } finally {
            lock.unlock();
        }
    }

    void change(String item, String price, Prices.Cache cache, Prices.Database database) {
        RLock lock = redisson.getReadWriteLock("prices").writeLock();
        lock.lock();
        try {
            database.setPrice(item, price, 0);
            cache.remove(item);
        } finally {
            lock.unlock();
        }
    }
}
