package io.holdfast;

import static java.util.Objects.requireNonNull;

import io.holdfast.engine.Engine;
import io.holdfast.engine.EngineSettings;
import io.holdfast.engine.Limits;
import io.holdfast.engine.LostHolds;
import io.holdfast.engine.ThreadLock;
import io.holdfast.engine.ThreadReadWriteLock;
import io.holdfast.log.Log;
import io.holdfast.observe.Observability;
import io.holdfast.spi.Finding;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreHealth;
import io.holdfast.spi.TimeSource;
import io.holdfast.store.StoreOpening;
import io.holdfast.store.Stores;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The entry to distributed locks: one process's connection to a store. Make one client for each process and store,
 * share it, and close it at the end.
 *
 * <pre>{@code
 * try (LockClient locks = LockClient.connect("redis://127.0.0.1:6379")) {
 *     try (Lease lease = locks.acquire("order:refund:12345")) {
 *         refunds.execute(orderId, lease.fencingToken());
 *     }
 * }
 * }</pre>
 *
 * <p>The waiters of one client queue locally and only the client contends at the store; a release passes the lock to
 * the next local waiter without a command. The client renews a lease while it is held, unless {@link LockOptions} says
 * otherwise.
 *
 * <p>A failing store is never reported as a lock that is taken or busy: the call throws {@link LockStoreException}. The
 * client retries a failing store for at most {@link Builder#storeTimeout} and never beyond the caller's wait.
 *
 * <p>A name is not blank, at most 1,024 bytes of UTF-8 and without half a character; any other name is refused with
 * {@link IllegalArgumentException}. On a closed client, every method that needs the store throws {@link
 * LockClientClosedException}. Thread-safe.
 *
 * <table>
 *   <caption>The forms of acquiring</caption>
 *   <tr><th></th><th>blocking</th><th>asynchronous</th></tr>
 *   <tr><td>waits</td><td>{@code acquire(name [, wait | options])}</td><td>{@code acquireAsync}, the same</td></tr>
 *   <tr><td>may return empty</td><td>{@code tryAcquire(name [, wait | options])}</td>
 *       <td>{@code tryAcquireAsync}, the same</td></tr>
 *   <tr><td>several names, all or none</td><td>{@code acquireAll}, {@code tryAcquireAll(names [, wait | options])}</td>
 *       <td>{@code acquireAllAsync}, {@code tryAcquireAllAsync}, the same</td></tr>
 *   <tr><td>under a lambda, always released</td><td>{@code run}, {@code call(name [, options], task)},
 *       {@code tryRun(name [, wait | options], task)}; for checked exceptions {@code runChecked}, {@code
 *       callChecked}</td>
 *       <td>{@code callAsync(name [, options], task)}</td></tr>
 * </table>
 *
 * <p>{@link #getLock} shows the lock of a name as one that a thread owns. {@link #permits}, {@link #leadership} and
 * {@link #getReadWriteLock} are other things of a name: permits, a leader, and a lock with many readers, of which {@link
 * #acquireRead(String) acquireRead} and {@link #acquireWrite(String) acquireWrite} have the forms of the first two rows.
 *
 * <p>A lock says "not at the same time". For work that must be done once, whenever it is asked for again, see {@code
 * JdbcOnce} of the module holdfast-jdbc, {@code @Idempotent} in Spring, and {@link #once} where there is no database.
 *
 * <p>All asynchronous forms throw a mistake of the caller (null, a bad name or length) at once; every other outcome (a
 * closed client, a failing store, a wait that ended) completes the stage. Dependents that are added by {@code …Async}
 * methods without an executor run on the client's callback executor. If that executor has not begun to deliver a lease
 * within the length of the lease, the client releases the lease and the stage fails with {@link LeaseLostException}.
 */
public final class LockClient extends ReadWriteForms implements AutoCloseable {

    static {
        Log.writeBy(LockClient::write);
    }

    /** Opens an engine with the client's settings, and with a client id and connections of its own. */
    private final Supplier<Engine> opener;

    /** Held while a closed client is reopened, so that there is one open engine at most. */
    private final ReentrantLock reopening = new ReentrantLock();

    /** The candidates that are not closed, or still release. */
    private final Set<Leadership> leaderships = ConcurrentHashMap.newKeySet();

    /** Whether {@link #close} has begun, so that it may have missed a candidate that is added now. */
    private volatile boolean closing;

    /** Replaced only by {@link #reopen}, after the engine before was closed. */
    private volatile Engine engine;

    LockClient(Supplier<Engine> opener) {
        this.opener = opener;
        this.engine = opener.get();
    }

    /**
     * Opens a client by the URI of its store, with default settings.
     *
     * @param uri for example {@code redis://user:password@host:6379/0} or {@code memory:orders}
     * @throws IllegalArgumentException if the URI is malformed, or no module on the class path knows its scheme
     * @throws LockStoreException if the store cannot be reached or refuses the connection
     */
    public static LockClient connect(String uri) {
        return builder().uri(uri).build();
    }

    /**
     * Returns the name if it is a valid lock name. For tools that refuse a bad name early, without a client.
     *
     * @throws IllegalArgumentException if the name is blank, longer than 1,024 bytes of UTF-8, or has an unpaired
     *     surrogate (half a character)
     */
    public static String checkName(String name) {
        return Limits.checkName(name);
    }

    /** Returns a new builder; it needs a {@link Builder#uri} or a {@link Builder#store}. */
    public static Builder builder() {
        return new Builder();
    }

    /** Returns a name as a {@link java.util.concurrent.locks.Lock}: a view without state. Costs no command. */
    public DistributedLock getLock(String name) {
        return new ThreadLock(() -> engine, Limits.checkName(name));
    }

    /**
     * Returns permits: at most so many of this name are held at a time, over all clients of the store. Costs no command:
     * each acquisition tells the store the limit. The permits have no connection with the lock of this name.
     *
     * @param limit how many there are, the same in all clients; see {@link Permits} for a change
     * @throws IllegalArgumentException if the name is refused, or the limit is below 1 or above 1,048,576
     */
    public Permits permits(String name, int limit) {
        return new Permits(() -> engine, name, limit);
    }

    /**
     * Returns a name as a {@link java.util.concurrent.locks.ReadWriteLock}: a view without state. Costs no command. It
     * has no connection with the lock or the permits of this name.
     */
    public DistributedReadWriteLock getReadWriteLock(String name) {
        return new ThreadReadWriteLock(() -> engine, name);
    }

    /**
     * Returns work that is done once for each key, with the results in this client's store: at least once after a
     * crash. Costs no command. With a database, {@code JdbcOnce} of the module holdfast-jdbc does it exactly once.
     */
    public StoreOnce once() {
        return new StoreOnce(this, () -> engine);
    }

    /** Campaigns as {@link #leadership(String, LeadershipListener, LeadershipOptions)} does, with default options. */
    public Leadership leadership(String name, LeadershipListener listener) {
        return leadership(name, listener, LeadershipOptions.defaults());
    }

    /**
     * Campaigns for a leadership, until it or the client is closed: of all candidates for a name, at most one leads at
     * a time. Returns at once; a store that fails does not end the campaign. The leader holds the lock {@code
     * leader:NAME}.
     *
     * @throws IllegalArgumentException if the name of the lock is refused, or if {@link LeadershipOptions#stopWithin}
     *     is longer than a third of the client's lease time
     * @throws LockClientClosedException if the client is closed, or is being closed
     */
    public Leadership leadership(String name, LeadershipListener listener, LeadershipOptions options) {
        Limits.checkName(Leadership.LOCK_PREFIX + Limits.checkName(name));
        requireNonNull(listener, "listener");
        return leadership(name, listener, options, null, TermRun::new);
    }

    /**
     * For tests.
     *
     * @param thread runs the listener's calls one after the other; null for a thread of its own
     */
    Leadership leadership(
            String name,
            LeadershipListener listener,
            LeadershipOptions options,
            @Nullable Executor thread,
            TermRun.Maker terms) {
        Engine now = engine;
        now.ensureOpen();
        Duration stopWithin = options.stopWithin(now.settings.leaseNanos);
        Leadership made = new Leadership(
                this, name, listener, stopWithin, now.settings.time, now.settings::jittered, thread, terms);
        var unused = made.ended().thenRun(() -> leaderships.remove(made));
        leaderships.add(made);
        if (closing) {
            made.ended().complete(null);
            throw now.closed();
        }
        made.begin();
        return made;
    }

    /** Returns this client's candidates for leaderships that are not closed, sorted by name. Costs no command. */
    public List<Leadership> leaderships() {
        return leaderships.stream()
                .sorted(Comparator.comparing(Leadership::name))
                .toList();
    }

    /**
     * Returns what the store knows about a name now. Costs one command, and one for the card of the holder.
     *
     * @throws LockStoreException if the store failed
     */
    public LockState inspect(String name) {
        return engine.inspect(Limits.checkName(name));
    }

    /**
     * Returns what all clients of the store say about themselves: who they are, and what they hold and wait for. Empty
     * if the store keeps no cards. Costs a few commands, and one for each client.
     *
     * @throws LockStoreException if the store failed
     */
    public List<ClientCard> cards() {
        return engine.cards();
    }

    /** Returns the id of this client: its holder ids begin with this id and a colon. New after each {@link #reopen}. */
    public String id() {
        return engine.settings.clientId;
    }

    /**
     * Returns the names that this client holds or waits for now, sorted. Each lease and each wait of permits is one more
     * entry, with the name {@code permits:NAME}; of a read-write lock, {@code read:NAME} or {@code write:NAME}. Costs no
     * command.
     */
    public List<LocalLock> localLocks() {
        return engine.localLocks();
    }

    /**
     * Returns whether the store has {@linkplain Permits permits} and {@linkplain DistributedReadWriteLock read-write
     * locks}. Costs no command.
     *
     * @throws LockStoreException if the client was built {@linkplain Builder#lazy lazily} and its store is not open yet
     */
    public boolean hasPermits() {
        return engine.hasPools();
    }

    /** Returns a description of this client's store, without secrets, for messages and tools. */
    public String describeStore() {
        return engine.store.describe();
    }

    /**
     * Asks the store whether locks can be taken now, and for the state of its parts. Examples are how many members of a
     * quorum vote, and whether a ZooKeeper session lives. Costs one command to each server, even to one that does not
     * answer: for health pages, not for each request.
     *
     * @throws LockStoreException if the store does not answer
     */
    public StoreHealth storeHealth() {
        return engine.storeHealth();
    }

    /**
     * Looks at the servers of the store: version, settings that endanger locks, missing rights, clocks, and the keys of
     * one lock. For people, when they set up a store or look for a fault. Costs some commands to each server. Empty if
     * the store has nothing to say.
     *
     * @param name a name that this client holds now, so that its keys are there to be described
     * @throws LockStoreException if the store failed
     */
    public List<Finding> diagnose(String name) {
        return engine.diagnose(Limits.checkName(name));
    }

    /**
     * Returns the delay of the most overdue renewal, or zero. The client renews a lease after a third of its length, so
     * a lease is lost when this delay comes near two thirds. Costs no command.
     */
    public Duration renewalLag() {
        return engine.renewalLag();
    }

    /**
     * Ends the hold of this holder on a name, in this client or elsewhere, without asking its owner. The store compares
     * and ends in one step: a hold that somebody else has meanwhile stays. So this is the form for people who were
     * shown a holder, and for tools.
     *
     * <p>The leases that one client hands on from caller to caller are one hold with one holder id, and so are the locks
     * of one Redisson thread: a later lease of the same hold is ended, too.
     *
     * <p>After the end, a lease of this client is lost. An owner elsewhere receives a message at once, which makes its
     * client ask the store; if the message does not arrive, it notices within a third of a lease. Waiters of this
     * client ask the store again.
     *
     * @param holder the holder to release, as {@link LockState#holder} shows it
     * @throws IllegalArgumentException if the holder is empty
     * @throws LockStoreException if the store failed, or if the key is not, or not only, a lock
     */
    @CheckReturnValue
    public ForcedRelease forceRelease(String name, String holder) {
        return engine.forceRelease(Limits.checkName(name), Limits.checkHolder(holder));
    }

    /**
     * Ends the hold of any holder on a name: as {@link #forceRelease(String, String)}, without a comparison. For
     * recoveries and tests, where the name must become free. After a look at the holder, use the other form: on a busy
     * lock, another client holds the name by now.
     *
     * @return true if there was a hold
     * @throws LockStoreException if the store failed, or if the key is not, or not only, a lock
     */
    public boolean forceRelease(String name) {
        return engine.forceRelease(Limits.checkName(name), null).isEnded();
    }

    /**
     * Fails all waiters with {@link LockClientClosedException}, ends all leases, waits at most 2 seconds for the store
     * to confirm, and closes the store. Idempotent. Leases still in use are lost, and their callbacks run.
     *
     * <p>The locks are released, except those under which work may go on: in a lambda form, under {@link #getLock} or
     * {@link LockOptions#releasedByThread} of another thread that lives, and under {@link LockOptions#leftAtClose}.
     * These stay locked, and are not renewed, until their leases have run out. So end such work before the close, or
     * the next client waits for one lease.
     *
     * <p>First, all {@link #leadership leaderships} are closed together, which may take the longest of their times to
     * stop, and 2 seconds.
     */
    @Override
    public void close() {
        closing = true;
        Leadership.closeAll(leaderships());
        engine.close();
    }

    /**
     * Returns a stage that completes when this client has been closed; it is complete if the client is closed now. After
     * a {@link #reopen}, another stage stands for the next close. What depends on the stage runs on the thread that
     * calls {@link #close}, before that returns, so it must not wait.
     */
    public CompletionStage<@Nullable Void> whenClosed() {
        return engine.whenClosed();
    }

    /**
     * Opens a closed client again, with a new id and new connections. Does nothing if the client is open. For a process
     * image (CRaC, SnapStart): close the client before the image is made, and reopen it after each restore. Leases from
     * before the close stay lost; locks from {@link #getLock} work again.
     *
     * @throws IllegalStateException if the client is closed and was built from a store object, which was closed with it
     * @throws LockStoreException if the store cannot be reached or refuses the connection; the client stays closed
     */
    public void reopen() {
        reopening.lock();
        try {
            if (engine.isClosed()) {
                engine = opener.get();
                closing = false;
            }
        } finally {
            reopening.unlock();
        }
    }

    /** Returns the store without secrets and the number of names in use here, for people and logs. */
    @Override
    public String toString() {
        int names = engine.size();
        return "LockClient[" + describeStore() + (engine.isClosed() ? ", closed" : ", open") + ", " + names
                + (names == 1 ? " name" : " names") + " in use]";
    }

    @Override
    Engine engine() {
        return engine;
    }

    /** Writes a line of the engine's log, so that the log shows this class as its source. */
    private static void write(
            System.Logger log,
            System.Logger.Level level,
            String line,
            @Nullable Throwable stack,
            @Nullable Object @Nullable [] values) {
        if (values == null) {
            log.log(level, line, stack);
        } else {
            log.log(level, line, values);
        }
    }

    /** Reports an event of a leadership. */
    void notifyListeners(Consumer<LockListener> event) {
        engine.callbacks.notifyListeners(event);
    }

    /** Writes a line of a leadership's log. */
    static void log(System.Logger.Level level, String line, @Nullable Throwable stack) {
        Log.LOG.log(level, line, stack);
    }

    /** The settings of a client to open. Not thread-safe. */
    public static final class Builder {

        private @Nullable String uri;
        private @Nullable Function<? super StoreContext, ? extends LockStore> opener;
        private final EngineSettings settings = new EngineSettings();
        private boolean lazy;

        Builder() {}

        /** Sets the URI of the store; its scheme selects the module. */
        public Builder uri(String uri) {
            this.uri = requireNonNull(uri, "uri");
            return this;
        }

        /** Sets a store that the caller made, for one client. The client closes the store when it is closed. */
        public Builder store(LockStore store) {
            return store(Stores.once(store));
        }

        /**
         * Sets the function that opens the store, for stores that are configured in code instead of by a URI. The
         * client closes the store when it is closed. {@link #build} throws what the function throws, a {@code
         * StoreException} as {@link LockStoreException}.
         */
        public Builder store(Function<? super StoreContext, ? extends LockStore> opener) {
            this.opener = requireNonNull(opener, "opener");
            return this;
        }

        /**
         * Sets the length of a lease that is renewed; 30 seconds by default. When a process dies, its locks are free
         * within this time. The client renews a lease when a third of it has passed.
         *
         * @throws IllegalArgumentException if shorter than 100 ms or longer than a year
         */
        public Builder leaseTime(Duration leaseTime) {
            settings.leaseNanos = Limits.checkLease("leaseTime", leaseTime).toNanos();
            return this;
        }

        /**
         * Sets how long a waiter tolerates store failures before it gets a {@link LockStoreException}, counted from the
         * last good answer. A waiter whose own time ends earlier does not wait that long. By default, waiters tolerate
         * what the store needs to notice a dead connection and to be answered on a new one, and at least 5 seconds: 12
         * seconds on Redis with its usual timeout. A shorter setting is logged at the opening.
         *
         * @throws IllegalArgumentException if negative or longer than 100 years
         */
        public Builder storeTimeout(Duration timeout) {
            settings.storeTimeout = Limits.checkWait("storeTimeout", timeout);
            return this;
        }

        /**
         * Lets {@link #build} and {@link #reopen} succeed while the store cannot be reached or refuses the connection.
         * Until it can be opened, calls fail with {@link LockStoreException}, after the store timeout if they wait;
         * each makes a new try in the background, at most one a second. Wrong settings still fail at once.
         */
        public Builder lazy() {
            this.lazy = true;
            return this;
        }

        /**
         * Sets the client's name for people: tools, messages and the store's list of connections show it with the host
         * and the process id. By default, the name of the main class or jar. Not unique, and not secret.
         *
         * @throws IllegalArgumentException if blank or longer than 100 characters
         */
        public Builder clientName(String name) {
            settings.clientName = Limits.checkClientName(name);
            return this;
        }

        /** Sets how much the client says about itself at the store; {@link CardDetail#NAMES} by default. */
        public Builder cards(CardDetail detail) {
            settings.cards = requireNonNull(detail, "detail");
            return this;
        }

        /**
         * Sets the executor that runs callbacks and completes stages; by default, daemon threads made as needed.
         *
         * <p>Threads of the client call the executor, because it may block, or run the task itself as {@code
         * CallerRunsPolicy} does. For threads of a kind of their own, {@link #callbackThreads} saves that step.
         */
        public Builder callbackExecutor(Executor executor) {
            settings.callbackExecutor = requireNonNull(executor, "executor");
            settings.callbackThreads = null;
            return this;
        }

        /**
         * Sets the factory of the threads that run callbacks and complete stages, a new thread for each: for example
         * {@code Thread.ofVirtual().factory()}. Replaces {@link #callbackExecutor}. The factory must not block.
         */
        public Builder callbackThreads(ThreadFactory threads) {
            settings.callbackThreads = requireNonNull(threads, "threads");
            settings.callbackExecutor = null;
            return this;
        }

        /**
         * Adds a listener that receives the client's lock events. May be called several times: each listener receives
         * all events.
         */
        public Builder listener(LockListener listener) {
            List<LockListener> all = new ArrayList<>(settings.listeners);
            all.add(requireNonNull(listener, "listener"));
            settings.listeners = List.copyOf(all);
            return this;
        }

        /** Sets a tracer that follows the client's acquisitions. */
        public Builder tracer(LockTracer tracer) {
            settings.tracer = requireNonNull(tracer, "tracer");
            return this;
        }

        /** Sets the source of all time, for tests; {@link TimeSource#system()} by default. */
        public Builder timeSource(TimeSource time) {
            settings.time = requireNonNull(time, "time");
            return this;
        }

        /** For tests of this package: ids, randomness and rules that a simulation controls. */
        Builder settings(Consumer<EngineSettings> change) {
            change.accept(settings);
            return this;
        }

        /**
         * Opens a client. Each call opens a new client with the present settings.
         *
         * @throws IllegalArgumentException if the URI is malformed or of an unknown scheme
         * @throws IllegalStateException if there is neither a URI nor a store, or both
         * @throws LockStoreException if the store cannot be reached or refuses the connection, unless {@link #lazy}
         */
        public LockClient build() {
            if ((uri == null) == (opener == null)) {
                throw new IllegalStateException("A LockClient needs either a uri or a store, and not both");
            }
            // Copies, because the builder may change before the client is reopened.
            EngineSettings kept = settings.copy();
            Function<? super StoreContext, ? extends LockStore> open =
                    opener != null ? opener : Stores.opener(requireNonNull(uri));
            boolean late = lazy;
            LostHolds lostHolds = new LostHolds();
            return new LockClient(() -> {
                EngineSettings own = kept.snapshot();
                StoreOpening opening = StoreOpening.of(open, own.context(), late);
                return new Engine(opening, own, lostHolds, Observability::new);
            });
        }
    }
}
