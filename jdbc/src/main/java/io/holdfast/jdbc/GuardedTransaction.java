package io.holdfast.jdbc;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides what a guarded connection checks in its current transaction, and what it refuses.
 *
 * <p>A database ends, restarts and commits transactions without the driver's word: idle timeouts, deadlocks, DDL,
 * {@code COMMIT} as SQL, statements around the proxies. So what is believed here is verified before it is committed, in
 * the transaction that commits.
 *
 * <p>Invariant: when a transaction commits under a lease, the row of the lease has exactly its triple. The row is then
 * locked by this transaction, or by an open outer one of the same thread and data source.
 */
final class GuardedTransaction {

    private static final ThreadLocal<@Nullable List<GuardedTransaction>> OPEN = new ThreadLocal<>();

    private final Connection target;
    private final Object source;
    private final JdbcGuard guard;
    private final Supplier<? extends Collection<? extends Lease>> leases;

    /**
     * Maps each lock to the lease that its row was last raised for, in this transaction. The database may have
     * ended that transaction since.
     */
    private final Map<Subject, Lease> checked = new HashMap<>();

    /** Maps the locks that this transaction leaves to an outer one: a check would wait for the lock of its own thread. */
    private final Map<Subject, Cover> covered = new HashMap<>();

    /** The checks of leases whose locks are in this database. Of one transaction. */
    private final List<OwnRows> ownRows = new ArrayList<>();

    private record Cover(Lease lease, GuardedTransaction outer) {}

    /** The thread's list that this transaction is in while it has checked leases. Another thread may remove it. */
    private @Nullable List<GuardedTransaction> open;

    /** Whether a statement was sent. */
    private boolean begun;

    /** Whether what was sent last may have ended the transaction that was checked. */
    private boolean unsure;

    /** Whether the transaction has, or had, a savepoint: a failure after it may leave the lock on the row. */
    private boolean savepoint;

    /** Whether statements can be sent without {@link #beforeStatement}, from now on until the connection is closed. */
    private boolean reached;

    /** Whether the application got an object through which statements can be sent at any time. */
    private boolean unwrapped;

    /** Whether the last transaction ended by the rollback of a refused commit. */
    private boolean endedByRefusal;

    /** Whether nothing was asked of the connection since a commit or rollback. */
    private boolean fresh;

    /** Why the transaction must be rolled back. */
    private @Nullable Throwable refusal;

    /** Whether the database, or this object, has rolled the refused transaction back already. */
    private boolean rolledBack;

    GuardedTransaction(
            Connection target, Object source, JdbcGuard guard, Supplier<? extends Collection<? extends Lease>> leases) {
        this.target = target;
        this.source = source;
        this.guard = guard;
        this.leases = leases;
    }

    /** @param unwrapped whether statements can be sent without any call of the proxies from now on */
    void onReach(boolean unwrapped) {
        this.unwrapped |= unwrapped;
        reached = true;
        fresh = false;
    }

    void beforeSavepoint() throws SQLException {
        beforeStatement(false);
        savepoint = true;
    }

    /** A check since the savepoint is undone, so the next statement repeats it. */
    void beforeRollbackToSavepoint() {
        unsure = true;
    }

    /** @param mayEnd whether the statement may end the transaction, see {@link SqlText#mayEndTransaction} */
    void beforeStatement(boolean mayEnd) throws SQLException {
        requireNotRefused();
        fresh = false;
        try {
            forgetIfUnsure();
            if (mayEnd) {
                verify();
            }
            checkMissing();
        } catch (SQLException | RuntimeException e) {
            refusal = e;
            throw e;
        }
        begun = true;
        unsure = mayEnd;
    }

    /**
     * Receives the failure of a statement. After some, the database has rolled back the whole transaction, and the next
     * statement would begin another one without the first half of the work.
     */
    void onFailure(SQLException failure) {
        if (checked.isEmpty() && covered.isEmpty()) {
            return;
        }
        try {
            if (Dialect.of(target).isRolledBack(failure)) {
                refusal = failure;
                rolledBack = true;
            }
        } catch (SQLException e) {
            // The connection is broken: nothing of its transaction will be committed.
            failure.addSuppressed(e);
        }
    }

    /** Rolls the transaction back if it is refused: frameworks switch to autocommit next, which commits. */
    void beforeCommit() throws SQLException {
        try {
            requireNotRefused();
            forgetIfUnsure();
            verify();
            if (reached) {
                checkMissing();
            }
        } catch (SQLException | RuntimeException e) {
            if (rollBack(e)) {
                onCommitOrRollback();
                endedByRefusal = true;
            }
            throw e;
        }
    }

    /**
     * As {@link #beforeCommit}, but free where it follows a commit or rollback at once, as it does in frameworks. After
     * a commit, what was unwrapped before may have been used in between.
     */
    void beforeAutoCommit() throws SQLException {
        if (!fresh || (unwrapped && !endedByRefusal)) {
            beforeCommit();
        }
    }

    /** Some databases commit before they change the isolation level. Only there it is checked, as a commit. */
    void beforeIsolationLevel() throws SQLException {
        if (Dialect.of(target).commitsAtIsolationLevel()) {
            beforeAutoCommit();
            unsure = true;
        }
    }

    /** Without a transaction, or where the database accepts no write, the database has nothing to refuse. */
    private boolean isUnguarded() throws SQLException {
        return target.getAutoCommit() || target.isReadOnly();
    }

    private void requireNotRefused() throws SQLException {
        if (refusal != null) {
            throw new SQLException(
                    "The guard refused this transaction, so it must be rolled back (expected: rollback())", refusal);
        }
    }

    private boolean rollBack(Throwable reason) {
        refusal = reason;
        try {
            target.rollback();
            rolledBack = true;
        } catch (SQLException e) {
            // The connection is broken, or stays refused until a rollback succeeds.
            reason.addSuppressed(e);
        }
        return rolledBack;
    }

    private void forgetIfUnsure() {
        if (unsure) {
            checked.clear();
            ownRows.clear();
            covered.clear();
            unsure = false;
        }
    }

    /** Verifies, at the database, that the transaction is the one that was checked. */
    private void verify() throws SQLException {
        if (!checked.isEmpty()) {
            LeaseLostException lost = verify(checked.values());
            if (lost != null) {
                throw lost;
            }
        }
        List<Lease> uncovered = new ArrayList<>();
        for (Cover cover : covered.values()) {
            if (!cover.outer.hasChecked(cover.lease)) {
                uncovered.add(cover.lease);
            } else if (!cover.outer.isAlive(cover.lease)) {
                throw outerEnded(cover.lease);
            }
        }
        check(uncovered);
    }

    private @Nullable LeaseLostException verify(Collection<? extends Lease> which) throws SQLException {
        List<Lease> inTable = new ArrayList<>(which);
        for (OwnRows rows : ownRows) {
            if (inTable.removeIf(rows::covers)) {
                LeaseLostException lost = rows.verify(target);
                if (lost != null) {
                    return lost;
                }
            }
        }
        return inTable.isEmpty() ? null : guard.verify(target, inTable);
    }

    private void checkMissing() throws SQLException {
        List<Lease> missing = new ArrayList<>();
        for (Lease lease : leases.get()) {
            if (!hasChecked(lease) && !isCovered(lease)) {
                missing.add(lease);
            }
        }
        // Some drivers ask the database whether it is read-only, so this comes last.
        if (missing.isEmpty() || isUnguarded()) {
            return;
        }
        List<Lease> own = new ArrayList<>();
        for (Lease lease : missing) {
            if (!cover(lease)) {
                own.add(lease);
            }
        }
        check(own);
    }

    private void check(List<Lease> missing) throws SQLException {
        if (missing.isEmpty()) {
            return;
        }
        OwnRows rows = guard.checked(target, missing);
        if (rows != null) {
            ownRows.add(rows);
        }
        for (Lease lease : missing) {
            checked.put(Subject.of(lease), lease);
            covered.remove(Subject.of(lease));
        }
        enter();
    }

    @SuppressWarnings("ReferenceEquality") // a later lease on the name is another one
    private boolean hasChecked(Lease lease) {
        return checked.get(Subject.of(lease)) == lease;
    }

    @SuppressWarnings("ReferenceEquality") // as for hasChecked
    private boolean isCovered(Lease lease) {
        Cover cover = covered.get(Subject.of(lease));
        return cover != null && cover.lease == lease;
    }

    /** Leaves the lease to an outer transaction, if one has checked it. Returns false if there is none. */
    private boolean cover(Lease lease) throws SQLException {
        GuardedTransaction outer = outer(lease);
        if (outer == null) {
            return false;
        }
        if (!outer.isAlive(lease)) {
            if (begun) {
                throw outerEnded(lease);
            }
            return false;
        }
        covered.put(Subject.of(lease), new Cover(lease, outer));
        return true;
    }

    @SuppressWarnings("ReferenceEquality") // the same data source, and another transaction
    private @Nullable GuardedTransaction outer(Lease lease) {
        List<GuardedTransaction> all = OPEN.get();
        if (all != null) {
            for (GuardedTransaction other : all) {
                if (other != this && other.source == source && other.hasChecked(lease)) {
                    return other;
                }
            }
        }
        return null;
    }

    /**
     * Returns whether this outer transaction is still the one that was checked for the lease. If not, it has no lock on
     * the row any more.
     *
     * @throws SQLException if that is not known; then an inner transaction may not begin, and may not wait for the row
     */
    private boolean isAlive(Lease lease) throws SQLException {
        if (refusal != null) {
            if (rolledBack && !savepoint) {
                return false;
            }
            throw new SQLException(
                    "The outer transaction under the lock " + Keys.quoted(lease.name())
                            + " must be rolled back first (expected: no inner transaction after a failure"
                            + " that refused the outer one, or that came after a savepoint)",
                    refusal);
        }
        try {
            if (unsure) {
                // As its own next statement would, for all of its leases: this transaction may still lock their rows,
                // and an inner one would wait for its own thread.
                List<Lease> before = List.copyOf(checked.values());
                forgetIfUnsure();
                check(before);
                return true;
            }
            LeaseLostException lost = verify(List.of(lease));
            if (lost != null) {
                // The read has locked the row, which the inner transaction needs.
                rollBack(lost);
            }
            return lost == null;
        } catch (SQLException e) {
            if (!Dialect.hasEnded(target, e)) {
                throw e;
            }
            if (savepoint && !target.isClosed()) {
                throw new SQLException(
                        "The outer transaction under the lock " + Keys.quoted(lease.name())
                                + " has failed after a savepoint, and may still lock the row (expected: a rollback"
                                + " to the savepoint before an inner transaction)",
                        e);
            }
            return false;
        }
    }

    private static LeaseLostException outerEnded(Lease lease) {
        return new LeaseLostException(
                "The transaction must be rolled back: the database has ended the outer transaction,"
                        + " which had checked the lease on " + Keys.quoted(lease.name())
                        + " for both (expected: an idle timeout of the database that is longer than the work)");
    }

    /** Receives the end of the transaction by a commit or a rollback. */
    void onCommitOrRollback() {
        onEnd();
        fresh = true;
    }

    /** Lets inner transactions of the thread find this transaction. */
    private void enter() {
        if (open == null) {
            List<GuardedTransaction> all = OPEN.get();
            if (all == null) {
                all = new CopyOnWriteArrayList<>();
                OPEN.set(all);
            }
            all.add(this);
            open = all;
        }
    }

    @SuppressWarnings("ReferenceEquality") // this very list
    void onEnd() {
        fresh = false;
        endedByRefusal = false;
        checked.clear();
        ownRows.clear();
        covered.clear();
        begun = false;
        unsure = false;
        savepoint = false;
        refusal = null;
        rolledBack = false;
        if (open != null) {
            open.remove(this);
            if (open.isEmpty() && OPEN.get() == open) {
                OPEN.remove();
            }
            open = null;
        }
    }
}
