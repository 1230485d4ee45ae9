package io.holdfast.sql;

import io.holdfast.record.NameMessage;
import io.holdfast.spi.PushedGrant;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * The messages that clients send each other by NOTIFY. Any role of the database can send one, so a grant is believed
 * only for its nonce.
 *
 * <pre>
 *  granted    g|G name id base waiting lease nonce since
 *  contended  c|C name id
 *  freed      r name id          while a guard keeps the name
 *  forced     f|F name id        a capital letter: of a pool
 * </pre>
 */
final class Notes {

    /**
     * The condition for sending one. The server keeps messages until all sessions that listen have read them, so one
     * session that never ends its transaction fills the queue. Then the commit of each further message fails.
     */
    static final String HAVE_ROOM = "pg_notification_queue_usage() < 0.5";

    private static final int CHANNEL_MAX = 63;

    private Notes() {}

    /** A message that was received. */
    record Note(boolean pool, NameMessage message) {}

    /** Returns the channel of a client: its id, or if that is too long, a digest of it. */
    static String channel(String client) {
        return client.getBytes(StandardCharsets.UTF_8).length <= CHANNEL_MAX && !client.isEmpty()
                ? client
                : LockKey.of(client).substring(0, CHANNEL_MAX);
    }

    /** Returns the text of a message that the end of a guard is followed by. */
    static String text(NameMessage.Freed freed) {
        return "r" + about(freed);
    }

    private static String about(NameMessage message) {
        return ' ' + QueueText.word(message.name()) + ' ' + QueueText.word(message.holderId());
    }

    /** @param before the row before the message's cause: it says which server's clock stamped the entry */
    static String text(NameMessage message, boolean pool, Row before) {
        String tail = about(message);
        String kind;
        if (message instanceof NameMessage.Granted granted) {
            PushedGrant grant = dated(granted.grant(), before);
            kind = "g";
            tail += " " + grant.base() + ' ' + grant.waiting() + ' ' + grant.leaseMillis() + ' ' + grant.nonce() + ' '
                    + grant.sinceAskingMillis();
        } else {
            kind = message instanceof NameMessage.Contended ? "c" : message instanceof NameMessage.Freed ? "r" : "f";
        }
        return (pool ? kind.toUpperCase(Locale.ROOT) : kind) + tail;
    }

    /** Returns the grant without a date if the entry was stamped by another server's clock. */
    private static PushedGrant dated(PushedGrant grant, Row before) {
        Long mark = QueueText.marks(before.queue()).get(grant.holderId());
        boolean oneClock = mark == null || mark == before.mark();
        return oneClock ? dated(grant) : undated(grant);
    }

    /** Returns the grant with a time since the stamp. A stamp may be ahead of the clock: that goes off the lease. */
    static PushedGrant dated(PushedGrant grant) {
        long since = grant.sinceAskingMillis();
        if (since >= 0) {
            return grant;
        }
        long lease = grant.leaseMillis() + since;
        return lease <= 0
                ? undated(grant)
                : new PushedGrant(
                        grant.name(),
                        grant.holderId(),
                        grant.base(),
                        grant.waiting(),
                        lease,
                        grant.nonce(),
                        0,
                        PushedGrant.ALWAYS);
    }

    static PushedGrant undated(PushedGrant grant) {
        return new PushedGrant(
                grant.name(),
                grant.holderId(),
                grant.base(),
                grant.waiting(),
                grant.leaseMillis(),
                PushedGrant.NO_NONCE,
                0,
                PushedGrant.ALWAYS);
    }

    /** @throws RuntimeException if no client of ours sent it */
    static Note parse(String text) {
        String[] field = text.split(" ", -1);
        String name = QueueText.id(field[1]);
        String id = QueueText.id(field[2]);
        NameMessage message = switch (field[0]) {
            case "g", "G" ->
                new NameMessage.Granted(new PushedGrant(
                        name,
                        id,
                        Long.parseLong(field[3]),
                        Integer.parseInt(field[4]),
                        Long.parseLong(field[5]),
                        Long.parseLong(field[6]),
                        Long.parseLong(field[7]),
                        PushedGrant.ALWAYS));
            case "c", "C" -> new NameMessage.Contended(name, id);
            case "r" -> new NameMessage.Freed(name, id);
            case "f", "F" -> new NameMessage.Forced(name, id);
            default -> throw new IllegalArgumentException("a message of kind " + field[0].length());
        };
        return new Note(Character.isUpperCase(field[0].charAt(0)), message);
    }
}
