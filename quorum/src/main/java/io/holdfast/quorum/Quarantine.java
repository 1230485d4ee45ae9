package io.holdfast.quorum;

import io.holdfast.quorum.QuorumMember.Identity;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides for how long members without a birth must not vote. Pure.
 *
 * <p>A member without a birth is new, or has lost its data. In the second case it may have granted locks that are still
 * held, and would grant them again. Nothing at the member distinguishes the two cases, so it does not vote until the
 * longest lease must be over. This is the "delayed restart" of the Redlock specification, kept by the clients.
 *
 * <p>The exception is a set in which every member is new. A client can then hold a majority only from before
 * <em>all</em> members that granted it were restarted or lost their data. That is excluded if each member has kept its
 * data for longer than the longest lease. Otherwise only the user can exclude it, by the option {@code bootstrap}.
 */
final class Quarantine {

    private Quarantine() {}

    /**
     * Returns the quarantine for members without a birth.
     *
     * @param identities those of all members; null for a member that did not answer
     */
    static long millis(List<@Nullable Identity> identities, long longest, boolean bootstrap) {
        boolean allNew = true;
        boolean allOld = true;
        for (Identity identity : identities) {
            if (identity == null || !isNew(identity)) {
                allNew = false;
            } else if (identity.uptimeMillis() < longest) {
                allOld = false;
            }
        }
        return allNew && (allOld || bootstrap) ? 0 : longest;
    }

    /** Returns whether another client may be admitting a new set right now: some members are new, some are not. */
    static boolean mayBeEndingElsewhere(List<@Nullable Identity> identities) {
        return identities.stream().anyMatch(identity -> identity != null && isNew(identity))
                && identities.stream().anyMatch(identity -> identity != null && !isNew(identity));
    }

    private static boolean isNew(Identity identity) {
        return identity.standing().birth().isEmpty();
    }
}
