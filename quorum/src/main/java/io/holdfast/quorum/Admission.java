package io.holdfast.quorum;

import io.holdfast.spi.QuorumMember.Identity;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * For how long members without a past must not vote. Pure.
 *
 * <p>A member without a birth is new, or has lost its data: then it may have granted locks that are still held, and would
 * grant them again. Nothing at the member tells the two apart, so it is out until the longest lease must be over. This is
 * the "delayed restart" of the Redlock specification, kept by the clients.
 *
 * <p>The exception is a set that is new as a whole: no member has a past, so no client can have got a majority of it, except
 * one from before a restart, or a deletion of all data, of <em>all</em> members. Each of them having kept its data for longer
 * than the longest lease excludes that; otherwise only the user can, by the option {@code bootstrap}.
 */
final class Admission {

    private Admission() {}

    /**
     * The quarantine for those without a birth.
     *
     * @param identities of all members; null for one that could not be asked
     */
    static long quarantineMillis(List<@Nullable Identity> identities, long longest, boolean bootstrap) {
        boolean allNew = true;
        boolean allOld = true;
        for (Identity identity : identities) {
            if (identity == null || !identity.standing().birth().isEmpty()) {
                allNew = false;
            } else if (identity.uptimeMillis() < longest) {
                allOld = false;
            }
        }
        return allNew && (allOld || bootstrap) ? 0 : longest;
    }

    /** Whether another client may be admitting the members of a new set just now, so that a second look is worthwhile. */
    static boolean mayBeUnderWay(List<@Nullable Identity> identities) {
        boolean someNew = false;
        boolean someKnown = false;
        for (Identity identity : identities) {
            if (identity != null) {
                boolean isNew = identity.standing().birth().isEmpty();
                someNew |= isNew;
                someKnown |= !isNew;
            }
        }
        return someNew && someKnown;
    }
}
