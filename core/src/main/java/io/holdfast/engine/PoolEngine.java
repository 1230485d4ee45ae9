package io.holdfast.engine;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockOptions;
import io.holdfast.engine.LockEvents.NameVisitor;
import io.holdfast.spi.HolderId;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The engine of a client's permits. Each acquisition is a {@link Lane}; those of one name ask the store through a
 * {@link Gate}. News of a holder id goes to the lane with its number alone: any other lane of the name would withdraw
 * the id.
 */
public final class PoolEngine extends EngineParts {

    /** Stands before the name of permits where observers see it. */
    static final String SHOWN = "permits:";

    private final Engine locks;
    private final ConcurrentMap<String, Pool> pools = new ConcurrentHashMap<>();

    /** By the numbers of their acquisitions. */
    private final ConcurrentMap<Long, Lane> lanes = new ConcurrentHashMap<>();

    PoolEngine(Engine locks, StoreOpening opening) {
        super(locks, new PoolStore(opening, locks.events));
        this.locks = locks;
        store.listen(new Messages());
    }

    /** Starts an acquisition for the calling thread to wait for. */
    public Waiter submit(PoolRequest wanted, LockOptions options, WaitMode mode) {
        return submit(wanted, Waiter.blocking(options, mode, null, settings.time.nanoTime()));
    }

    /** Starts an acquisition for the calling thread, which runs a task under the permit and then releases it. */
    public Waiter submitTask(PoolRequest wanted, LockOptions options, WaitMode mode) {
        return submit(wanted, Waiter.forTask(options, mode, settings.time.nanoTime()));
    }

    /** Starts an acquisition for a stage. */
    public Waiter submitAsync(PoolRequest wanted, LockOptions options, WaitMode mode) {
        return submit(wanted, Waiter.asynchronous(requireNonNull(options, "options"), mode, settings.time.nanoTime()));
    }

    private Waiter submit(PoolRequest wanted, Waiter waiter) {
        waiter.trace = events.asking(SHOWN + wanted.name(), waiter.makesOneAttempt());
        Lane lane;
        do {
            locks.ensureOpen();
            lane = open(wanted);
        } while (!lane.submit(waiter));
        if (isClosed()) {
            // close() may have passed over the lane before it was there.
            lane.handle(state -> state.onClosed(locks.closed(), null));
        }
        return waiter;
    }

    private Lane open(PoolRequest wanted) {
        AtomicReference<@Nullable Lane> opened = new AtomicReference<>();
        pools.compute(wanted.name(), (name, known) -> {
            Pool pool = known == null ? new Pool() : known;
            Lane lane = new Lane(this, pool, wanted);
            // In this step, so that the pool is not retired in between.
            pool.lanes.add(lane);
            opened.set(lane);
            return pool;
        });
        return requireNonNull(opened.get());
    }

    /** Notes the lane of an acquisition, before the number is sent. */
    void map(long number, Lane lane) {
        lanes.put(number, lane);
    }

    @Override
    void retire(NameEngine retired) {
        Lane lane = (Lane) retired;
        lane.numbers().forEach(lanes::remove);
        pools.computeIfPresent(lane.name(), (name, pool) -> {
            pool.lanes.remove(lane);
            return pool.lanes.isEmpty() ? null : pool;
        });
    }

    @Override
    boolean handle(String name, String holderId, Consumer<NameState> event) {
        Lane lane = HolderId.client(holderId).equals(settings.clientId) ? lanes.get(HolderId.number(holderId)) : null;
        if (lane == null) {
            return false;
        }
        lane.handle(event);
        return true;
    }

    @Override
    public boolean isClosed() {
        return locks.isClosed();
    }

    /** Ends everything; completes when the store has confirmed all releases. See {@link Engine#closeAsync}. */
    CompletionStage<Void> closeAsync(Thread closer) {
        pools.values()
                .forEach(pool ->
                        pool.lanes.forEach(lane -> lane.handle(state -> state.onClosed(locks.closed(), closer))));
        retention.close();
        return compensation.whenIdle();
    }

    /** Returns how many names are in use here. */
    int size() {
        return pools.size();
    }

    /** For tests: how many acquisition numbers may be heard of. */
    int lanes() {
        return lanes.size();
    }

    long renewalLagNanos() {
        return pools.values().stream()
                .flatMap(pool -> pool.lanes.stream())
                .mapToLong(NameEngine::renewalLagNanos)
                .max()
                .orElse(0);
    }

    void visitWaits(NameVisitor visitor) {
        pools.values().forEach(pool -> pool.lanes.forEach(lane -> lane.visitWaits(visitor)));
    }

    /** Every waiter asks the store now. */
    void askAll() {
        pools.values().forEach(PoolEngine::askAll);
    }

    private static void askAll(@Nullable Pool pool) {
        if (pool != null) {
            pool.lanes.forEach(lane -> lane.handle(state -> state.contention().onHint()));
        }
    }

    /** Passes the store's messages about pools on. */
    private final class Messages extends HolderMessages {

        @Override
        public void released(String name) {
            askAll(pools.get(name));
        }

        @Override
        public void reconnected() {
            askAll();
        }
    }
}
