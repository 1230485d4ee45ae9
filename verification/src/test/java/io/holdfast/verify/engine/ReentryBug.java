package io.holdfast.verify.engine;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.engine.VerifyEngine;
import io.holdfast.engine.VerifyEngine.OwnedLock;
import org.jspecify.annotations.Nullable;

/** What could be wrong with a lock that threads own. Switched on one at a time, to see that it is found. */
public enum ReentryBug {
    NONE,

    /** Any thread of the owner's process enters the lock again. */
    ANOTHER_THREAD_IS_LET_IN,
    /** Any thread of the owner's process unlocks. */
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

    OwnedLock lock(LockClient client, String name) {
        return this == NONE ? new OwnedLock(client, name) : new Wrong(client, name);
    }

    private final class Wrong extends OwnedLock {

        Wrong(LockClient client, String name) {
            super(client, name);
        }

        @Override
        public boolean enterAgain(Thread thread) {
            Lease entered = switch (ReentryBug.this) {
                case ANOTHER_THREAD_IS_LET_IN -> ownedByAny().orElse(null);
                case LOST_LEASE_IS_ENTERED_AGAIN -> ownedBy(thread);
                default -> null;
            };
            if (entered == null) {
                return super.enterAgain(thread);
            }
            setCount(entered, VerifyEngine.count(entered) + 1);
            return true;
        }

        @Override
        public long fencingToken(Thread thread) {
            long token = super.fencingToken(thread);
            return ReentryBug.this == TOKEN_FOR_EACH_LOCK ? token + holdCount(thread) - 1 : token;
        }

        @Override
        public @Nullable Lease leave(Thread thread) {
            Lease mine = ownedBy(thread);
            return switch (ReentryBug.this) {
                case ANOTHER_THREAD_UNLOCKS ->
                    super.leave(ownedByAny().map(this::owner).orElse(thread));
                case UNLOCK_DOES_NOT_COUNT -> {
                    Lease last = super.leave(thread);
                    if (last == null && mine != null) {
                        setCount(mine, VerifyEngine.count(mine) + 1);
                    }
                    yield last;
                }
                case FIRST_UNLOCK_RELEASES -> {
                    if (mine != null) {
                        setCount(mine, 1);
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
                        while (forgetLoss(thread)) {
                            // One more unlock that will not throw.
                        }
                        throw told;
                    }
                }
                default -> super.leave(thread);
            };
        }
    }
}
