package io.holdfast.engine;

import io.holdfast.LockTimeoutException;
import io.holdfast.spi.DurationText;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Describes why a waiter does not have the lock, for its exception and for the log.
 *
 * @param at what it waits for
 * @param here this client's present lease on the name, if there is one
 * @param elsewhere the holder of the lock when the store last answered, if it is known
 * @param described that holder, as a message shows it
 */
public record WaitText(
        EventLock<?> at,
        Waiter waiter,
        @Nullable ActiveLease here,
        @Nullable String elsewhere,
        @Nullable String described,
        long nowNanos) {

    /** Returns the exception for a wait that ended without a lease and without a failure. */
    LockTimeoutException notAcquired() {
        String lock = "The " + at.described();
        if (waiter.makesOneAttempt() && (waiter.foundBusy || waiter.waitNanos == 0)) {
            return timeout(at.isPlural() ? lock + " are held by others" : lock + " is held by " + holder());
        }
        if (waiter.unheardNanos > 0) {
            return timeout(lock + (at.isPlural() ? " were" : " was") + " held by others" + last()
                    + ", and the store has not answered for the last "
                    + DurationText.rounded(Duration.ofNanos(waiter.unheardNanos)));
        }
        if (isOwn()) {
            return timeout(lock + " is held by " + holder());
        }
        String wait = waiter.options.waitAtMost().map(WaitText::limit).orElse("the whole wait");
        return timeout(
                lock + (at.isPlural() ? " were held by others for " : " was held by others for ") + wait + last());
    }

    private LockTimeoutException timeout(String message) {
        Duration waited = Duration.ofNanos(Math.max(0, nowNanos - waiter.arrivedNanos));
        return new LockTimeoutException(
                message, List.of(at.name()), waited, here == null ? elsewhere : here.hold.holderId());
    }

    /** Returns a limit in whole milliseconds: for one of several names it is what the others left of the caller's. */
    private static String limit(Duration wait) {
        return DurationText.of(wait.plusNanos(999_999).truncatedTo(ChronoUnit.MILLIS));
    }

    private String last() {
        return here != null || described == null ? "" : ", last by " + described;
    }

    /** Returns the line for a wait that continues. */
    public String longWait() {
        return waiter.describe()
                + " has waited for the " + at.described() + " for " + age(waiter.arrivedNanos)
                + (here == null ? described == null ? "" : ", held by " + described : ", which is held by " + holder());
    }

    private String holder() {
        ActiveLease held = here;
        if (held == null) {
            return described == null ? "somebody else" : described;
        }
        String since = age(held.grantedNanos);
        if (isOwn()) {
            return "this thread's own lease since " + since
                    + " (a Lease is not reentrant: pass it on instead of acquiring again, or use getLock)";
        }
        return "another caller of this client since " + since;
    }

    private boolean isOwn() {
        return here != null && here.wasTakenBy(waiter.threadId());
    }

    private String age(long sinceNanos) {
        return DurationText.rounded(Duration.ofNanos(Math.max(0, nowNanos - sinceNanos)));
    }
}
