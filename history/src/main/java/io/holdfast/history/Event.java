package io.holdfast.history;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Something that happened, as one line of a history file: {@code <nanos> <kind> <who> key=value key=value …}, separated
 * by single spaces; keys and values are percent-encoded as in a query string. Lines that begin with {@code #} are
 * comments.
 *
 * @param nanos the time on a monotonic clock that all recorders of the history share: on one machine {@code
 *     System.nanoTime()}
 * @param kind the kind of event
 * @param who an operation, as {@code <process>/<number>}, or a process
 * @param details the details that {@link Kind} names
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/verification.md#2-checker-of-histories">
 *     Checker of histories</a>
 */
public record Event(long nanos, Kind kind, String who, Map<String, String> details) {

    /**
     * The kinds of events. "Before" and "after" say when the recorder takes the time, so that no check reports too
     * much.
     */
    public enum Kind {
        /**
         * Before an operation asks for a lock. {@code lock}; {@code wait}: the longest wait in ns, absent without a
         * limit; {@code lease}: the fixed length of its lease in ns, absent if the lease is renewed; {@code owner}: the
         * thread that will own the lease, absent if any thread may use it. For permits, and for read-write locks, also
         * {@code capacity}: the largest weight of all leases together, as the operation asks for it; {@code weight}: that
         * of its own lease. Both are 1 if absent. A writer has the weight of all, a reader that of one.
         */
        ASK,
        /** After the operation was granted its lease. {@code token}, if the lock has fencing tokens. */
        GRANTED,
        /** After the operation ended without a lease. {@code why}: timeout, withdrawn or failed. */
        REFUSED,
        /** The lease was valid. The time is before the question. */
        VALID,
        /**
         * The owner of the lease locked once more without a wait: reentrancy. {@code depth}: how many times it is
         * locked then; {@code token}, if the lock has fencing tokens; {@code owner}: the thread that locked, if {@link
         * #ASK} names an owner.
         */
        AGAIN,
        /**
         * The owner has unlocked one of several times. {@code depth}: how many times it is still locked; {@code owner}.
         */
        UNLOCKED,
        /** Before the release of the lease; for a lock that was locked several times, before the last unlock. */
        RELEASE,
        /** After the release, if it was confirmed. */
        RELEASED,
        /** After the operation learned, in any way, that its lease was lost. */
        LOST,
        /** The operation read a guarded register. {@code of}: the register; {@code value}. Recorded by the register. */
        READ,
        /**
         * The operation wrote a register that compares fencing tokens. {@code of}, {@code value}, {@code token}, {@code
         * accepted}. Recorded by the register, in the register's order.
         */
        WRITE,
        /**
         * The operation wrote a counter that only the lock guards. {@code of}, {@code value}. In the counter's order.
         */
        COUNT,
        /** After the pause of a process. {@code nanos}: the length of the pause. */
        PAUSED,
        /** A process was killed. The time is before the kill. */
        DIED,
        /**
         * The store lost data, or ended holds by force or by its clock: exclusion is not promised between leases
         * granted before and after it. {@code lock}, or absent for all locks; {@code nanos}: how long this lasted (for
         * example, two masters at the same time), absent for an instant. The time is before the fault.
         */
        FORGOT
    }

    public Event {
        if (who.isEmpty() || who.indexOf(' ') >= 0) {
            throw new IllegalArgumentException("who: \"" + who + "\" (expected: a word)");
        }
    }

    /** Returns an event with its details as alternating keys and values. */
    public static Event of(long nanos, Kind kind, String who, Object... keysAndValues) {
        Map<String, String> details = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            details.put(keysAndValues[i].toString(), keysAndValues[i + 1].toString());
        }
        return new Event(nanos, kind, who, details);
    }

    /** Returns the process of the operation. */
    public String process() {
        int slash = who.indexOf('/');
        return slash < 0 ? who : who.substring(0, slash);
    }

    /**
     * Returns a detail that must be there.
     *
     * @throws IllegalArgumentException if it is missing
     */
    public String text(String key) {
        String value = details.get(key);
        if (value == null) {
            throw new IllegalArgumentException("\"" + line() + "\" has no " + key);
        }
        return value;
    }

    /** Returns a detail that is a number, or the alternative if the detail is missing. */
    public long number(String key, long otherwise) {
        String value = details.get(key);
        return value == null ? otherwise : Long.parseLong(value);
    }

    /** Returns the event as one line of a history file, without the line's end. */
    public String line() {
        StringBuilder line = new StringBuilder(64);
        line.append(nanos)
                .append(' ')
                .append(kind.name().toLowerCase(Locale.ROOT))
                .append(' ')
                .append(who);
        details.forEach((key, value) ->
                line.append(' ').append(encoded(key)).append('=').append(encoded(value)));
        return line.toString();
    }

    /**
     * Returns the event of a line.
     *
     * @throws IllegalArgumentException if the line is no event; the message shows the line
     */
    public static Event parse(String line) {
        String[] words = line.strip().split(" ", -1);
        try {
            Map<String, String> details = new LinkedHashMap<>();
            for (int i = 3; i < words.length; i++) {
                int equals = words[i].indexOf('=');
                details.put(decoded(words[i].substring(0, equals)), decoded(words[i].substring(equals + 1)));
            }
            return new Event(
                    Long.parseLong(words[0]), Kind.valueOf(words[1].toUpperCase(Locale.ROOT)), words[2], details);
        } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "not an event: \"" + line + "\" (expected: <nanos> <kind> <process>/<number> key=value …)", e);
        }
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }
}
