package io.holdfast.spring.declaration;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.MultiLease;
import io.holdfast.Permits;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.Names;
import io.holdfast.spring.LockMode;
import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The things that a call wants of its names: their locks, or a share of a read-write lock or permits of one name.
 *
 * @param limit how many permits there are; 1 for locks
 * @param weight how many permits the call takes; 1 for locks
 */
public record Wanted(Kind kind, int limit, int weight) {

    public static final Wanted LOCK = new Wanted(Kind.LOCK, 1, 1);

    /**
     * Returns what a call wants of permits.
     *
     * @throws IllegalArgumentException if the limit or the weight is out of range
     */
    public static Wanted permits(int limit, int weight) {
        if (limit < 1 || limit > AcquireRequest.CAPACITY_MAX) {
            throw new IllegalArgumentException(
                    "permits: " + limit + " (expected: from 1 to " + AcquireRequest.CAPACITY_MAX + ")");
        }
        if (weight < 1 || weight > limit) {
            throw new IllegalArgumentException(
                    "weight: " + weight + " (expected: from 1 to the permits, " + limit + ")");
        }
        return new Wanted(Kind.PERMITS, limit, weight);
    }

    /** Returns what a call wants of a lock or of a read-write lock. */
    public static Wanted of(LockMode mode) {
        return switch (mode) {
            case EXCLUSIVE -> LOCK;
            case READ -> new Wanted(Kind.READ, 1, 1);
            case WRITE -> new Wanted(Kind.WRITE, 1, 1);
        };
    }

    /**
     * Checks that there is one name, unless locks are wanted.
     *
     * @throws IllegalArgumentException if there are several names, and only locks can be acquired together
     */
    public void checkNames(Collection<String> names) {
        if (kind != Kind.LOCK && names.size() != 1) {
            throw new IllegalArgumentException(kind.feature() + " of " + names.size()
                    + " names (expected: one name, since only locks are acquired together)");
        }
    }

    /** Acquires what is wanted. The names are those of {@link #checkNames}. */
    public MultiLease acquire(LockClient client, Collection<String> names, LockOptions options)
            throws InterruptedException {
        return switch (kind) {
            case LOCK, ONCE, REQUEST -> client.acquireAll(names, options);
            case READ -> new SingleLease(client.acquireRead(only(names), options));
            case WRITE -> new SingleLease(client.acquireWrite(only(names), options));
            case PERMITS -> new SingleLease(permits(client, only(names)).acquire(options));
        };
    }

    /** Acquires as {@link #acquire} does, without a thread that waits. */
    public CompletableFuture<MultiLease> acquireAsync(
            LockClient client, Collection<String> names, LockOptions options) {
        return switch (kind) {
            case LOCK, ONCE, REQUEST -> client.acquireAllAsync(names, options).toCompletableFuture();
            case READ -> single(client.acquireReadAsync(only(names), options));
            case WRITE -> single(client.acquireWriteAsync(only(names), options));
            case PERMITS -> single(permits(client, only(names)).acquireAsync(options));
        };
    }

    private static CompletableFuture<MultiLease> single(CompletionStage<Lease> stage) {
        CompletableFuture<Lease> acquiring = stage.toCompletableFuture();
        CompletableFuture<MultiLease> acquired = acquiring.thenApply(SingleLease::new);
        CompletionStage<MultiLease> outcome = acquired;
        outcome.whenComplete((lease, why) -> {
            if (why != null) {
                acquiring.cancel(true);
                // Has an effect only if the grant came before the cancel: nobody else has received it.
                CompletionStage<Lease> granted = acquiring;
                granted.thenAccept(Lease::releaseAsync);
            }
        });
        return acquired;
    }

    private static String only(Collection<String> names) {
        return names.iterator().next();
    }

    private Permits permits(LockClient client, String name) {
        return client.permits(name, limit).weight(weight);
    }

    /**
     * Returns whether a lease that was acquired for this is one for the other, if both are on the same name.
     *
     * @throws IllegalStateException if it is, but not for enough
     */
    public boolean covers(Wanted nested, String name) {
        if (kind == Kind.READ && nested.kind == Kind.WRITE) {
            throw new IllegalStateException("A nested call wants to write \"" + Names.printable(name)
                    + "\", and its caller reads it (expected: a caller that writes, or a write after the read, since"
                    + " a reader that waits to write waits for itself)");
        }
        if (kind != nested.kind && !(kind == Kind.WRITE && nested.kind == Kind.READ)) {
            return false;
        }
        if (nested.weight > weight) {
            throw new IllegalStateException("A nested call wants " + nested.weight + " permits of \""
                    + Names.printable(name) + "\", and its caller holds " + weight
                    + " (expected: at most as many, since a call that holds permits and waits for more can wait for"
                    + " itself)");
        }
        return true;
    }
}
