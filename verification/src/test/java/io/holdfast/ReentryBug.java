package io.holdfast;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What could be wrong with a lock that threads own. Switched on one at a time, to see that it is found. */
enum ReentryBug {
    NONE,

    /** Whoever is in the owner's process is let in again. */
    ANOTHER_THREAD_IS_LET_IN,
    /** Whoever is in the owner's process unlocks. */
    ANOTHER_THREAD_UNLOCKS,
    /** The unlock of a nested lock is not counted. */
    UNLOCK_DOES_NOT_COUNT,
    /** The first unlock releases, however often it was locked. */
    FIRST_UNLOCK_RELEASES,
    /** The last unlock leaves the lock where it is. */
    LAST_UNLOCK_KEEPS,
    /** A token for each lock, also for a nested one, as Redisson has it. */
    TOKEN_FOR_EACH_LOCK,
    /** A lease whose time is over is entered again. */
    LOST_LEASE_IS_ENTERED_AGAIN,
    /** An unlock does not say that the lease was lost. */
    LOSS_IS_NOT_TOLD,
    /** Only the first unlock says so, the others that nothing is held. */
    LOSS_IS_TOLD_ONCE;

    ThreadLock lock(Engine engine, String name) {
        return this == NONE ? new ThreadLock(engine, name) : new Wrong(engine, name);
    }

    private final class Wrong extends ThreadLock {
        private final Engine engine;

        Wrong(Engine engine, String name) {
            super(engine, name);
            this.engine = engine;
        }

        /** The lease of whichever thread. */
        private Optional<ActiveLease> any() {
            return engine.localLocks().stream()
                    .filter(local -> local.name().equals(name()))
                    .flatMap(local -> local.lease().stream())
                    .map(LeaseHandle::active)
                    .filter(lease -> lease.owner != null && lease.isHeldNow())
                    .findFirst();
        }

        @Override
        boolean enterAgain(Thread thread) {
            ActiveLease entered = switch (ReentryBug.this) {
                case ANOTHER_THREAD_IS_LET_IN -> any().orElse(null);
                case LOST_LEASE_IS_ENTERED_AGAIN -> ownedBy(thread);
                default -> null;
            };
            if (entered == null) {
                return super.enterAgain(thread);
            }
            entered.holds().count++;
            return true;
        }

        @Override
        long fencingToken(Thread thread) {
            long token = super.fencingToken(thread);
            return ReentryBug.this == TOKEN_FOR_EACH_LOCK ? token + holdCount(thread) - 1 : token;
        }

        @Override
        @Nullable
        ActiveLease leave(Thread thread) {
            ActiveLease mine = ownedBy(thread);
            return switch (ReentryBug.this) {
                case ANOTHER_THREAD_UNLOCKS ->
                    super.leave(any().map(lease -> lease.owner).orElse(thread));
                case UNLOCK_DOES_NOT_COUNT -> {
                    ActiveLease last = super.leave(thread);
                    if (last == null && mine != null) {
                        mine.holds().count++;
                    }
                    yield last;
                }
                case FIRST_UNLOCK_RELEASES -> {
                    if (mine != null) {
                        mine.holds().count = 1;
                    }
                    yield super.leave(thread);
                }
                case LAST_UNLOCK_KEEPS -> {
                    super.leave(thread);
                    yield null;
                }
                case LOSS_IS_NOT_TOLD -> {
                    try {
                        yield super.leave(thread);
                    } catch (LeaseLostException hidden) {
                        yield null;
                    }
                }
                case LOSS_IS_TOLD_ONCE -> {
                    try {
                        yield super.leave(thread);
                    } catch (LeaseLostException told) {
                        while (engine.lostHolds.unlockBy(thread, name()) != null) {
                            // One more that will not be told.
                        }
                        throw told;
                    }
                }
                default -> super.leave(thread);
            };
        }
    }
}
