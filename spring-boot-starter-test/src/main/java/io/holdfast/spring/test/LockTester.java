package io.holdfast.spring.test;

import io.holdfast.DistributedReadWriteLock;
import io.holdfast.ForcedRelease;
import io.holdfast.Leadership;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockState;
import io.holdfast.Permits;
import io.holdfast.PermitsState;
import io.holdfast.ReadWriteState;
import io.holdfast.spring.Leaderships;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

/**
 * Inspects locks in tests, holds them elsewhere, makes leases lost, and moves leaderships. A bean. All contexts of a
 * JVM share one memory store, so two contexts are two instances of the application.
 *
 * <pre>{@code
 * @Autowired LockTester locks;
 *
 * try (Lease elsewhere = locks.holdElsewhere("order.refund:42")) {
 *     assertThrows(LockTimeoutException.class, () -> refunds.refund(42));
 * }
 * }</pre>
 *
 * <p>A name may be that of permits or of a read-write lock, as {@code permits:NAME}, {@code read-write:NAME}, and for one
 * half {@code read:NAME} or {@code write:NAME}. For leadership and {@code holdElsewhere} it is a plain name.
 *
 * <p>Thread-safe.
 */
public final class LockTester implements AutoCloseable {

    private static final Duration NOTICE_WITHIN = Duration.ofSeconds(3);

    /** Those of all contexts of the JVM that are not closed. */
    private static final Set<LockTester> TESTERS = ConcurrentHashMap.newKeySet();

    private static final Duration LEAD_WITHIN = Duration.ofSeconds(30);

    private final LockClient application;
    private final LockClient other;
    private final Leaderships leaderships;

    LockTester(LockClient application, LockClient other, Leaderships leaderships) {
        this.application = application;
        this.other = other;
        this.leaderships = leaderships;
        TESTERS.add(this);
    }

    /** Returns whether the name is held, here or elsewhere. */
    public boolean isHeld(String name) {
        return application.inspect(name).isLocked() || !poolHolders(name).isEmpty();
    }

    /** Returns who holds the permits or the read-write lock that the name means; nobody if it means a lock alone. */
    private List<String> poolHolders(String name) {
        if (name.startsWith(Permits.SHOWN_PREFIX)) {
            return permits(name).inspect().holds().stream()
                    .map(PermitsState.Hold::holder)
                    .toList();
        }
        boolean reads = name.startsWith(DistributedReadWriteLock.READ_PREFIX);
        boolean writes = name.startsWith(DistributedReadWriteLock.WRITE_PREFIX);
        if (!reads && !writes && !name.startsWith(DistributedReadWriteLock.SHOWN_PREFIX)) {
            return List.of();
        }
        return readWrite(name).inspect().holds().stream()
                .filter(hold -> hold.isWriter() ? !reads : !writes)
                .map(ReadWriteState.Hold::holder)
                .toList();
    }

    private Permits permits(String name) {
        return application.permits(name.substring(Permits.SHOWN_PREFIX.length()), 1);
    }

    private DistributedReadWriteLock readWrite(String name) {
        return application.getReadWriteLock(name.substring(name.indexOf(':') + 1));
    }

    /** Returns whether this application holds the name by a valid lease. */
    public boolean isHeldHere(String name) {
        return leaseHere(name).map(Lease::isValid).orElse(false);
    }

    /**
     * Fails unless this application holds the name.
     *
     * @throws AssertionError if it does not
     */
    public void assertHeldHere(String name) {
        if (!isHeldHere(name)) {
            throw new AssertionError(
                    "The lock \"" + name + "\" is not held here; the store says: " + application.inspect(name));
        }
    }

    /**
     * Fails if the name is held, here or elsewhere.
     *
     * @throws AssertionError if it is held
     */
    public void assertFree(String name) {
        LockState state = application.inspect(name);
        if (state.isLocked()) {
            throw new AssertionError("The lock \"" + name + "\" is not free: " + state);
        }
        List<String> holders = poolHolders(name);
        if (!holders.isEmpty()) {
            throw new AssertionError("\"" + name + "\" is not free: it is held by " + holders);
        }
    }

    /**
     * Acquires the name as another instance would, until the lease is closed.
     *
     * @throws IllegalStateException if it is held already; or if the application's client is one that the application
     *     made itself, on another store than that of the tests: nobody would be kept out there
     */
    public Lease holdElsewhere(String name) {
        Lease lease = other.tryAcquire(name)
                .orElseThrow(() -> new IllegalStateException("The lock \"" + name + "\" is held already"));
        if (!application.inspect(name).isLocked()) {
            lease.close();
            throw onAnotherStore();
        }
        return lease;
    }

    /**
     * Takes all permits of the name as another instance would, until the lease is closed: calls of methods with
     * {@code @Limited} of this name find them busy.
     *
     * @param permits how many there are, as the methods declare
     * @throws IllegalStateException if some are held already; or if the application's client is on another store than
     *     that of the tests, as for {@link #holdElsewhere}
     */
    public Lease holdPermitsElsewhere(String name, int permits) {
        Lease lease = other.permits(name, permits)
                .weight(permits)
                .tryAcquire()
                .orElseThrow(() -> new IllegalStateException("Permits \"" + name + "\" are held already"));
        Optional<Lease> here = application.permits(name, permits).tryAcquire();
        if (here.isPresent()) {
            here.get().close();
            lease.close();
            throw onAnotherStore();
        }
        return lease;
    }

    private IllegalStateException onAnotherStore() {
        return new IllegalStateException("The LockClient of the application is on " + application.describeStore()
                + ", not on the store of the tests (expected: the client that Holdfast configures, or one of"
                + " your own"
                + " that is not made in tests)");
    }

    /**
     * Makes this application lose its lease on the name. Returns when the application has noticed, or after three
     * seconds: a lease of a fixed length ({@code leaseTime}) is not renewed, so its owner notices the loss only
     * at the release.
     *
     * @throws IllegalStateException if this application does not hold the name
     */
    public void lose(String name) {
        Lease lease = leaseHere(name)
                .orElseThrow(() -> new IllegalStateException("The lock \"" + name + "\" is not held here"));
        end(name, lease.holderId());
        long end = System.nanoTime() + NOTICE_WITHIN.toNanos();
        while (lease.isValid() && System.nanoTime() - end < 0) {
            LockSupport.parkNanos(1_000_000);
        }
    }

    /** Ends the hold of this holder, of whatever kind it is. */
    private void end(String name, String holder) {
        if (application.forceRelease(name, holder).isEnded()) {
            return;
        }
        ForcedRelease release = name.startsWith(Permits.SHOWN_PREFIX)
                ? permits(name).forceRelease(holder)
                : readWrite(name).forceRelease(holder);
        if (!release.isEnded()) {
            throw new IllegalStateException("\"" + name + "\" was released or lost meanwhile: " + release);
        }
    }

    /**
     * Makes this application lead: methods with {@code @Leader} of this name run here when this method returns. Another
     * context of this JVM that leads resigns. A context leads already when it has started, unless one that started
     * later has taken the leadership.
     *
     * @throws IllegalStateException if this application does not campaign for the leadership, or is not elected within 30
     *     seconds
     */
    public void lead(String name) {
        checkCampaigns(name);
        await("This application does not lead \"" + name + "\"", () -> {
            if (leaderships.term(name).isPresent()) {
                return true;
            }
            TESTERS.stream().filter(each -> each != this).forEach(each -> each.resign(name));
            return false;
        });
    }

    private void resign(String name) {
        application.leaderships().stream()
                .filter(each -> each.name().equals(name))
                .forEach(Leadership::resign);
    }

    /**
     * Makes another instance lead until the lease is closed: the term of this application is revoked, and calls of its
     * methods with {@code @Leader} of this name are skipped. Then this application may be elected again.
     *
     * @throws IllegalStateException if this application does not campaign for the leadership, or the other instance is not
     *     elected within 30 seconds
     */
    public Lease leadElsewhere(String name) {
        checkCampaigns(name);
        String lock = Leadership.LOCK_PREFIX + name;
        CompletableFuture<Lease> elsewhere = other.acquireAsync(lock).toCompletableFuture();
        try {
            await("The other instance does not lead \"" + name + "\"", () -> {
                if (application.inspect(lock).waitingClients() > 0) {
                    resign(name);
                }
                return elsewhere.isDone() && leaderships.term(name).isEmpty();
            });
        } catch (IllegalStateException e) {
            elsewhere.cancel(false);
            throw e;
        }
        return elsewhere.join();
    }

    /** Makes this application lead all that it stands for, unless its locks are on a store that others share. */
    void leadAll() {
        if (other.describeStore().equals(application.describeStore())) {
            names().forEach(this::lead);
        }
    }

    /** Returns the leaderships that the application campaigns for by this client, sorted. */
    private Set<String> names() {
        Set<String> all = new TreeSet<>(leaderships.names());
        all.retainAll(application.leaderships().stream().map(Leadership::name).collect(Collectors.toSet()));
        return all;
    }

    private void checkCampaigns(String name) {
        if (!names().contains(name)) {
            throw new IllegalStateException("This application does not campaign for the leadership \"" + name
                    + "\" (expected: one of " + names() + ", or a bean with @Leader(\"" + name + "\"))");
        }
    }

    private static void await(String otherwise, BooleanSupplier condition) {
        long end = System.nanoTime() + LEAD_WITHIN.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end >= 0) {
                throw new IllegalStateException(otherwise + " after " + LEAD_WITHIN.toSeconds() + " seconds");
            }
            LockSupport.parkNanos(5_000_000);
        }
    }

    @Override
    public void close() {
        TESTERS.remove(this);
        other.close();
    }

    private Optional<Lease> leaseHere(String name) {
        Set<String> shown = name.startsWith(DistributedReadWriteLock.SHOWN_PREFIX)
                ? Set.of(
                        name,
                        DistributedReadWriteLock.READ_PREFIX + name.substring(name.indexOf(':') + 1),
                        DistributedReadWriteLock.WRITE_PREFIX + name.substring(name.indexOf(':') + 1))
                : Set.of(name);
        return application.localLocks().stream()
                .filter(lock -> shown.contains(lock.name()))
                .flatMap(lock -> lock.lease().stream())
                .findFirst();
    }
}
