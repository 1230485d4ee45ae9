package io.holdfast.sql;

import io.holdfast.record.NameRecord.Entry;
import io.holdfast.record.NameRecord.Hold;
import io.holdfast.spi.AcquireRequest;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The text form of a queue and of a pool's holds. Numbers are in base 36.
 *
 * <pre>
 *  queue    id stamp mark nonce poll lease weight capacity;…
 *  holders  id weight base end sequence;…
 * </pre>
 */
final class QueueText {

    private static final int RADIX = Character.MAX_RADIX;

    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9:_.-]+");

    private QueueText() {}

    /** Returns the entries of a name's queue. */
    static List<Entry> entries(String name, String queue) {
        List<Entry> entries = new ArrayList<>();
        for (String[] field : fields(queue)) {
            AcquireRequest request = new AcquireRequest(
                    name,
                    id(field[0]),
                    number(field[5]),
                    true,
                    number(field[4]),
                    number(field[3]),
                    (int) number(field[6]),
                    (int) number(field[7]));
            entries.add(new Entry(request, number(field[1]) * 1_000));
        }
        return entries;
    }

    /** Returns which server's clock stamped each entry, by the holder id. */
    static Map<String, Long> marks(String queue) {
        Map<String, Long> marks = new HashMap<>();
        for (String[] field : fields(queue)) {
            marks.put(id(field[0]), number(field[2]));
        }
        return marks;
    }

    /**
     * Returns the text of a queue.
     *
     * @param before the text that was read
     * @param nowNanos the instant of the command: an entry with this stamp was stamped by it
     * @param mark which server's clock that is
     */
    static String text(List<Entry> entries, String before, long nowNanos, long mark) {
        if (entries.isEmpty()) {
            return "";
        }
        Map<String, Long> marks = marks(before);
        StringBuilder text = new StringBuilder();
        for (Entry entry : entries) {
            long stampedBy = entry.stampNanos() == nowNanos ? mark : marks.getOrDefault(entry.holderId(), mark);
            append(text, entry, stampedBy);
        }
        return text.toString();
    }

    /** Returns the text of an entry that the clock of this server has stamped. */
    static String text(Entry entry, long mark) {
        StringBuilder text = new StringBuilder();
        append(text, entry, mark);
        return text.toString();
    }

    private static void append(StringBuilder text, Entry entry, long mark) {
        AcquireRequest request = entry.request();
        append(text, request.holderId(), entry.stampNanos() / 1_000, mark, request.nonce());
        append(text, request.pollMillis(), request.leaseMillis(), request.weight(), request.capacity());
        text.append(';');
    }

    /** Returns the holds of a pool. */
    static List<Hold> holds(String holders) {
        List<Hold> holds = new ArrayList<>();
        for (String[] field : fields(holders)) {
            holds.add(new Hold(
                    id(field[0]),
                    (int) number(field[1]),
                    number(field[2]),
                    number(field[3]) * 1_000,
                    number(field[4])));
        }
        return holds;
    }

    /** Returns the text of a pool's holds. */
    static String text(List<Hold> holds) {
        StringBuilder text = new StringBuilder();
        for (Hold hold : holds) {
            append(text, hold.holderId(), hold.weight(), hold.base(), hold.endNanos() / 1_000);
            append(text, hold.sequence());
            text.append(';');
        }
        return text.toString();
    }

    /** Returns an id as a word: ids of our clients as they are. */
    static String word(String id) {
        return PLAIN.matcher(id).matches()
                ? id
                : "=" + Base64.getUrlEncoder().withoutPadding().encodeToString(id.getBytes(StandardCharsets.UTF_8));
    }

    static String id(String word) {
        return word.startsWith("=")
                ? new String(Base64.getUrlDecoder().decode(word.substring(1)), StandardCharsets.UTF_8)
                : word;
    }

    private static List<String[]> fields(String text) {
        List<String[]> all = new ArrayList<>();
        for (int from = 0, end; from < text.length(); from = end + 1) {
            end = text.indexOf(';', from);
            all.add(text.substring(from, end).split(" ", -1));
        }
        return all;
    }

    private static void append(StringBuilder text, String id, long... numbers) {
        text.append(word(id));
        append(text, numbers);
    }

    private static void append(StringBuilder text, long... numbers) {
        for (long number : numbers) {
            text.append(' ').append(Long.toString(number, RADIX));
        }
    }

    private static long number(String text) {
        return Long.parseLong(text, RADIX);
    }
}
