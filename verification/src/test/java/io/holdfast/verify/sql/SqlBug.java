package io.holdfast.verify.sql;

/** Possible bugs of the statements. A test switches on one at a time, and must find it. */
public enum SqlBug {
    NONE,

    /** A write does not compare the version. */
    VERSION_NOT_COMPARED,
    /** Rows are judged by the clock of the client. */
    CLOCK_OF_THE_CLIENT,
    /** An entry that is written into the queue changes the end of the hold. */
    ENQUEUE_WRITES_ENDS,
    /** A take finds any row of the name. */
    NEWEST_NOT_ASKED_FOR,
    /** A take and a renewal skip the newest row if it is locked, and find the next. */
    SKIPS_TO_AN_OLDER_ROW,
    /** A take keeps the base. */
    GRANT_KEEPS_THE_BASE,
    /** The entry that was granted stays in the queue. */
    ENTRY_STAYS_AFTER_ITS_GRANT,
    /** A take has no time after which it is refused. */
    LATE_TAKE,
    /** All made rows have the same version. With 0 it shows less often: a command locks such a row before its write. */
    MADE_ROWS_HAVE_VERSION_1,
    /** A make that is executed twice makes the same version twice. */
    VERSION_OF_THE_CLIENT,
    /** What was made is written without being read. */
    WRITE_AFTER_MAKE,
    /** A purge deletes all rows of the keys that it has found. */
    PURGE_BY_KEYS,
    /** A renewal does not use up its number. */
    RENEWAL_KEEPS_ITS_NUMBER,
    /** A renewal does not ask who holds the name. */
    RENEWAL_OF_ANY_HOLDER,
    /** A commit whose wait for the standby was cancelled counts as a success. */
    UNCONFIRMED_COMMIT_COUNTS,
    /** A row that one server has told is written on another one. */
    WRITTEN_ON_ANOTHER_SERVER,
    /** No row tells its server, so a grant is dated by the clocks of two servers. */
    DATED_ACROSS_SERVERS,
    /** A message does not wait for the commit. */
    MESSAGE_BEFORE_THE_COMMIT,
    /** A release does not look at the queue. */
    RELEASE_IGNORES_THE_QUEUE,
    /** A release does not wait for the disk, nor does a take. */
    TAKE_NEED_NOT_BE_SYNCED,
    /** An entry is added to the queue as the statement saw it, not as it is under the lock. */
    APPEND_TO_A_SEEN_QUEUE,
    /** An entry is added though its id waits already. */
    APPEND_OF_A_WAITER,
    /** An entry is added though its id holds the lock. */
    APPEND_OF_THE_HOLDER,
    /** Of the takes that share a statement, one gets the answer to another. */
    TAKES_MIXED_UP,
    /** The same of releases. */
    RELEASES_MIXED_UP
}
