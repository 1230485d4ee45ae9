package io.holdfast.history;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Something that happened, as one line of a history file: {@code <nanos> <kind> <who> key=value key=value …}, separated by
 * single spaces; keys and values are percent-encoded as in a query string. Lines that begin with {@code #} are comments.
 *
 * @param nanos when, on a monotonic clock that all recorders of the history share: on one machine {@code
 *     System.nanoTime()}
 * @param kind what
 * @param who an operation, as {@code <process>/<number>}, or a process
 * @param details what else there is to say; see {@link Kind}
 */
public record Event(long nanos, Kind kind, String who, Map<String, String> details) {

    /** What can happen. "Before" and "after" say when the time of the event is taken: so no check ever blames too much. */
    public enum Kind {
        /**
         * Before an operation asks for a lock. {@code lock}; {@code wait}: how long it waits at most, in ns, absent if
         * without limit; {@code lease}: the fixed length of its lease in ns, absent if it is renewed; {@code owner}: the thread
         * that will own the lease, absent if whoever has it may use it.
         */
        ASK,
        /** After the operation got its lease. {@code token}, if the lock has fencing tokens. */
        GRANTED,
        /** After the operation ended without a lease. {@code why}: timeout, withdrawn or failed. */
        REFUSED,
        /** The lease said that it was valid. The time is from before it was asked. */
        VALID,
        /**
         * The owner of the lease locked once more, and needed not wait: reentrancy. {@code depth}: how often it is locked by then;
         * {@code token}, if the lock has fencing tokens; {@code owner}: who locked, if {@link #ASK} says who owns.
         */
        AGAIN,
        /** The owner has unlocked one of several times. {@code depth}: how often it is locked still; {@code owner}. */
        UNLOCKED,
        /** Before the lease is released, for a lock that was locked several times: before the last unlock. */
        RELEASE,
        /** After the release, if it was confirmed. */
        RELEASED,
        /** After the operation was told that its lease was lost, by whatever way. */
        LOST,
        /** The operation read a guarded register. {@code of}: the register; {@code value}. Recorded by the register. */
        READ,
        /**
         * The operation wrote a register that compares fencing tokens. {@code of}, {@code value}, {@code token}, {@code
         * accepted}. Recorded by the register, in its order.
         */
        WRITE,
        /** The operation wrote a counter that nothing guards but the lock. {@code of}, {@code value}. In its order. */
        COUNT,
        /** After a process was made to stand still. {@code nanos}: for how long. */
        PAUSED,
        /** A process was killed. The time is from before. */
        DIED,
        /**
         * The store lost data, or let go of locks by force or by its clock: between leases granted before and after it,
         * exclusion is not promised. {@code lock}, or absent for all; {@code nanos}: for how long it went on doing so (two
         * masters at the same time, say), absent for an instant. The time is from before.
         */
        FORGOT
    }

    public Event {
        if (who.isEmpty() || who.indexOf(' ') >= 0) {
            throw new IllegalArgumentException("who: \"" + who + "\" (expected: a word)");
        }
    }

    /** An event with its details as alternating keys and values. */
    public static Event of(long nanos, Kind kind, String who, Object... keysAndValues) {
        Map<String, String> details = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            details.put(keysAndValues[i].toString(), keysAndValues[i + 1].toString());
        }
        return new Event(nanos, kind, who, details);
    }

    /** The process that an operation belongs to. */
    public String process() {
        int slash = who.indexOf('/');
        return slash < 0 ? who : who.substring(0, slash);
    }

    /**
     * A detail that must be there.
     *
     * @throws IllegalArgumentException if it is not
     */
    public String text(String key) {
        String value = details.get(key);
        if (value == null) {
            throw new IllegalArgumentException("\"" + line() + "\" has no " + key);
        }
        return value;
    }

    /** A detail that is a number, or the alternative if it is not there. */
    public long number(String key, long otherwise) {
        String value = details.get(key);
        return value == null ? otherwise : Long.parseLong(value);
    }

    /** As one line of a history file, without its end. */
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
     * The event of a line.
     *
     * @throws IllegalArgumentException that shows the line, if it is none
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
