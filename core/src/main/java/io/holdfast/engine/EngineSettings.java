package io.holdfast.engine;

import io.holdfast.CardDetail;
import io.holdfast.DistributedLock;
import io.holdfast.LockListener;
import io.holdfast.LockTracer;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The settings of the builder and of a simulation. An engine gets a {@link #snapshot()}. */
public final class EngineSettings implements Cloneable {

    /**
     * The system property that makes each lease remember where it was acquired. As a property it finds a leak without a
     * change of the program, even where a framework builds the client.
     */
    public static final String TRACE_LEASES = "holdfast.traceLeases";

    /** Whether each lease that no thread owns remembers where it was acquired. */
    boolean tracesLeases = Boolean.getBoolean(TRACE_LEASES);

    public TimeSource time = TimeSource.system();
    public long leaseNanos = Duration.ofSeconds(30).toNanos();
    /** For how long waiters tolerate a failing store; null: as {@link Patience} says. */
    @Nullable
    public Duration storeTimeout;

    /** Answers that; the engine replaces it by one that knows the store. */
    Patience patience = new Patience(null, () -> Duration.ZERO);

    long storeTimeoutNanos() {
        return patience.nanos();
    }

    /** The time after which a waiter asks again without news from the store; a third of the lease of a pushed grant. */
    long pollNanos = Duration.ofSeconds(1).toNanos();

    /** How long local hand-offs may keep the lock while another client waits for it. */
    long tenureNanos = Duration.ofMillis(10).toNanos();

    /**
     * How often a client that passes the lock on locally asks whether other clients wait: their message may be lost,
     * and Redisson clients send none.
     */
    long lookOutNanos = Duration.ofMillis(100).toNanos();

    /** The longest wait of the first local waiter with which a running thread may still take the lock before it. */
    long bargeNanos = Duration.ofMillis(1).toNanos();

    /** For how long running threads may take the lock again after it was handed to a waiter that had waited longer. */
    long turnNanos = Duration.ofNanos(100_000).toNanos();

    /** The user's executor of callbacks; null if there is none. */
    @Nullable
    public Executor callbackExecutor;

    /** Makes a thread for each callback, in place of {@link #callbackExecutor}; null if there is none. */
    @Nullable
    public ThreadFactory callbackThreads;

    public List<LockListener> listeners = List.of();

    @Nullable
    public LockTracer tracer;

    /** If empty, each client gets an id of its own. Two clients with one id would be one owner at the store. */
    public String clientId = "";

    /** The client's name for people; if empty, that of the process. */
    public String clientName = "";

    public String host = "";
    public long pid = -1;
    public CardDetail cards = CardDetail.NAMES;

    /** The shortest time between two writes of a card; zero leaves it to {@code Cards}. */
    long cardNanos;

    LeaseRules rules = new LeaseRules();

    /** Makes the engine of permits. */
    PoolEngine.Maker pools = PoolEngine::new;

    /** Whether the owner of a {@link DistributedLock} lives; a simulation's threads are never started. */
    Predicate<Thread> isAlive = Thread::isAlive;

    /** A random number from zero up to, not including, the argument. */
    LongUnaryOperator random = bound -> ThreadLocalRandom.current().nextLong(bound);

    /** Random bits that another process from the same image does not have. */
    LongSupplier freshBits = FreshBits::next;

    /** Random bits that nobody else knows. */
    LongSupplier nonces = FreshBits::buffered;

    public StoreContext context() {
        return new StoreContext(clientId, time, clientName() + "@" + host + ":" + pid);
    }

    public String clientName() {
        return clientName.isEmpty() ? ProcessIdentity.application() : clientName;
    }

    /** Returns the time between two cards. */
    public long cardNanos(long usual) {
        return cardNanos > 0 ? cardNanos : usual;
    }

    /** Returns a copy for one client, with an id of its own unless one is set. */
    public EngineSettings snapshot() {
        EngineSettings own = copy();
        own.clientId = clientId.isEmpty() ? randomId() : clientId;
        own.host = host.isEmpty() ? ProcessIdentity.host() : host;
        own.pid = pid < 0 ? ProcessIdentity.pid() : pid;
        return own;
    }

    public EngineSettings copy() {
        try {
            return (EngineSettings) clone();
        } catch (CloneNotSupportedException never) {
            throw new IllegalStateException(never);
        }
    }

    /**
     * Returns how early a renewal may come: a third of the time between two renewals of a full lease. So a client
     * renews its holds at two times in a period at most, whenever they were taken: three gaps of more than a third have
     * no room in it.
     */
    long renewEarlyNanos() {
        return leaseNanos / 9;
    }

    /** Returns how early a repeated renewal may come: less than half of the shortest pause before it. */
    long retryEarlyNanos() {
        return leaseNanos / 30;
    }

    /** Returns a delay between three quarters of the given one and all of it, so that clients do not fall into step. */
    public long jittered(long nanos) {
        return nanos - random.applyAsLong(nanos / 4 + 1);
    }

    /** Returns 96 random bits, with a prefix that other libraries do not use. */
    private static String randomId() {
        return "hf-" + Base64.getUrlEncoder().withoutPadding().encodeToString(FreshBits.bytes(12));
    }

    /**
     * Makes random bits. Those of {@link #next} and {@link #bytes} are not shared by two processes restored from one
     * image: the kernel makes them at the call, because a generator inside the process and its buffer are part of the
     * image.
     */
    private static final class FreshBits {

        private static final String KERNEL = "/dev/urandom";

        private static final int BUFFERED = 128 * Long.BYTES;
        private static final ReentrantLock LOCK = new ReentrantLock();
        private static ByteBuffer buffer = ByteBuffer.allocate(0); // by LOCK

        private FreshBits() {}

        static long next() {
            return ByteBuffer.wrap(bytes(Long.BYTES)).getLong();
        }

        /**
         * Returns random bits that another process cannot guess, but that a process from the same image may also return. A
         * call of the kernel serves many calls of this method, because each request that queues needs such bits.
         */
        static long buffered() {
            LOCK.lock();
            try {
                if (!buffer.hasRemaining()) {
                    buffer = ByteBuffer.wrap(bytes(BUFFERED));
                }
                return buffer.getLong();
            } finally {
                LOCK.unlock();
            }
        }

        static byte[] bytes(int count) {
            byte[] bits = new byte[count];
            // Opens the file at each call: a checkpoint refuses open files.
            try (InputStream kernel = new FileInputStream(KERNEL)) {
                if (kernel.readNBytes(bits, 0, count) == count) {
                    return bits;
                }
            } catch (IOException e) {
                // Not a Unix, or a sandbox without devices: only the platform's own generator is left.
            }
            new SecureRandom().nextBytes(bits);
            return bits;
        }
    }
}
