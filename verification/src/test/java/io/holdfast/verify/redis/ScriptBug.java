package io.holdfast.verify.redis;

/** What could be wrong with a store's scripts. Switched on one at a time, to see that it is found. */
public enum ScriptBug {
    NONE,

    /** A release deletes whatever is there. */
    RELEASE_WITHOUT_OWNER_CHECK,
    /** An acquire sent again for the same holder must be released twice, as at stores that count re-entries. */
    RESEND_COUNTS_TWICE,
    /** An acquire sent again gets a new base. */
    RESEND_GETS_A_NEW_BASE,
    /** An acquire sent again sets the time that is left, also to less. */
    RESEND_SHORTENS,
    /** A renewal sets the time that is left, also to less. */
    RENEWAL_SHORTENS,
    /** A renewal for a hold that is gone brings it back. */
    RENEWAL_REVIVES,
    /** A renewal from before an exact setting counts. */
    OLD_RENEWAL_COUNTS,
    /** An exact setting that is executed a second time sets once more. */
    SETTING_COUNTS_TWICE,
    /** A released lock is granted, but the message about it is missing. */
    GRANT_IS_NOT_SENT,
    /** A released lock is left free although somebody waits. */
    RELEASE_GRANTS_NOBODY,
    /** A pushed grant lasts for the full lease at once. */
    LONG_FIRST_LEASE,
    /** Entries whose clients have missed their polls are granted. */
    DEAD_ENTRIES_ARE_GRANTED,
    /** A client that hears nothing is granted all the same. */
    DEAF_CLIENTS_ARE_GRANTED,
    /** A poll goes to the end of the queue. */
    POLL_LOSES_ITS_PLACE,
    /** A poll does not stamp the entry. */
    POLL_DOES_NOT_STAMP,
    /** A free lock goes to any client that asks, although another one waits. */
    ASKER_GOES_FIRST,
    /** An acquire is executed however late. */
    NO_NOT_AFTER,
    /** The new id is queued although nothing was released. */
    REQUEUE_ALTHOUGH_GONE,
    /** An abandoned id stays in the queue. */
    ABANDON_LEAVES_THE_QUEUE,
    /** An abandoned hold stays. */
    ABANDON_KEEPS_THE_HOLD,
    /** The holder is not told that somebody waits. */
    CONTENTION_IS_NOT_TOLD,
    /** Replies to renewals do not say that somebody waits. */
    RENEWAL_HIDES_WAITERS,
    /** Bases are counted without the clock: they begin again when the data is lost. */
    BASE_WITHOUT_CLOCK,
    /** Bases are the clock alone: two in the same sixteenth of a millisecond are equal. */
    BASE_WITHOUT_COUNT
}
