package io.holdfast.observe;

import io.holdfast.ClientCard;
import io.holdfast.ClientCard.Activity;
import io.holdfast.ClientCard.HeldLock;
import io.holdfast.ClientCard.PermitsUse;
import io.holdfast.ClientCard.ReadWriteUse;
import io.holdfast.ClientCard.WaitedLock;
import io.holdfast.spi.CardStore;
import io.holdfast.spi.HolderId;
import io.holdfast.spi.Names;
import io.holdfast.spi.StoredCard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The text of a card: lines of fields with tabs between them. The first line has the version of the format and says who
 * the client is; the letter at the beginning of each other line says of what kind it is. Times are ages in milliseconds
 * at the instant of writing.
 *
 * <p>A reader takes what it can and ignores the rest: others may write cards, too. Every number and list is bounded.
 * Lock names stay as they were written, so that they can be looked up; in all other texts, escapes replace control
 * characters.
 */
final class CardText {

    private static final String FORMAT = "holdfast 1";
    private static final String HELD = "h";
    private static final String WAITING = "w";
    private static final String PERMITS = "p";
    private static final String READ_WRITE = "r";
    private static final String BUSY = "b";

    /** The halves of a read-write lock. */
    private static final String WRITERS = "write";

    private static final String READERS = "read";

    /** A card has long lists. Each gets its share, and the last one what is left. */
    private static final int WAITING_CHARS_MAX = CardStore.TEXT_MAX / 3;

    private static final int PERMITS_CHARS_MAX = CardStore.TEXT_MAX / 2;
    private static final int READ_WRITE_CHARS_MAX = CardStore.TEXT_MAX * 2 / 3;
    private static final int HELD_CHARS_MAX = CardStore.TEXT_MAX * 5 / 6;

    /** A hundred years, in milliseconds: no wait and no lease is longer. */
    private static final long TIME_MAX = Duration.ofDays(36_525).toMillis();

    /** Longer than any id that a client gives itself. */
    private static final int CLIENT_ID_MAX = 100;

    /** Version, trace id, parent id and flags, as the W3C's recommendation "Trace Context" has them. */
    private static final Pattern TRACE_PARENT = Pattern.compile("[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}");

    private CardText() {}

    /**
     * Returns the text of a card.
     *
     * @param earlierMillis how much earlier than the card's own time the ages are to be taken
     */
    static String write(ClientCard card, long earlierMillis) {
        StringBuilder text = new StringBuilder(256);
        line(
                text,
                CardStore.TEXT_MAX,
                FORMAT,
                card.application(),
                card.host(),
                card.pid(),
                card.version(),
                card.heldCount(),
                card.waitingCount());
        for (WaitedLock lock : card.waiting()) {
            line(
                    text,
                    WAITING_CHARS_MAX,
                    WAITING,
                    lock.name(),
                    lock.waited().toMillis() - earlierMillis,
                    lock.waiters(),
                    lock.holder().orElse(""),
                    lock.thread().orElse(""),
                    text(lock.owner()));
        }
        for (PermitsUse use : card.permits()) {
            line(
                    text,
                    PERMITS_CHARS_MAX,
                    PERMITS,
                    use.name(),
                    use.limit(),
                    use.leases(),
                    use.held(),
                    use.leases() == 0 ? 0 : use.heldFor().toMillis() - earlierMillis,
                    use.waiters(),
                    use.waiters() == 0 ? 0 : use.waited().toMillis() - earlierMillis);
        }
        for (ReadWriteUse use : card.readWrite()) {
            line(
                    text,
                    READ_WRITE_CHARS_MAX,
                    READ_WRITE,
                    use.name(),
                    use.isWriter() ? WRITERS : READERS,
                    use.leases(),
                    use.leases() == 0 ? 0 : use.heldFor().toMillis() - earlierMillis,
                    use.holderId().map(id -> Long.toString(HolderId.number(id))).orElse(""),
                    text(use.owner()),
                    use.waiters(),
                    use.waiters() == 0 ? 0 : use.waited().toMillis() - earlierMillis,
                    text(use.waitingOwner()));
        }
        for (HeldLock lock : card.held()) {
            line(
                    text,
                    HELD_CHARS_MAX,
                    HELD,
                    lock.name(),
                    Long.toString(HolderId.number(lock.holderId())),
                    lock.fencingToken(),
                    lock.heldFor().toMillis() - earlierMillis,
                    lock.remaining()
                            .map(left -> Long.toString(left.toMillis() + earlierMillis))
                            .orElse(""),
                    lock.waiters(),
                    lock.waiters() == 0 ? 0 : lock.longestWait().toMillis() - earlierMillis,
                    lock.thread().orElse(""),
                    lock.traceParent().orElse(""),
                    text(lock.owner()));
        }
        for (Activity lock : card.busiest()) {
            line(
                    text,
                    CardStore.TEXT_MAX,
                    BUSY,
                    lock.name(),
                    lock.acquired(),
                    lock.handedOn(),
                    lock.notAcquired(),
                    lock.waited().toMillis());
        }
        return text.toString();
    }

    private static String text(OptionalLong owner) {
        return owner.isPresent() ? Long.toString(owner.getAsLong()) : "";
    }

    /** Writes a line without the empty fields at its end. */
    private static void line(StringBuilder text, int charsMax, Object... fields) {
        int start = text.length();
        int length = fields.length;
        while (fields[length - 1].equals("")) {
            length--;
        }
        for (int i = 0; i < length; i++) {
            if (i > 0) {
                text.append('\t');
            }
            text.append(fields[i]
                    .toString()
                    .replace("\\", "\\\\")
                    .replace("\t", "\\t")
                    .replace("\n", "\\n"));
        }
        text.append('\n');
        if (text.length() > charsMax) {
            text.setLength(start);
        }
    }

    /** Reads a card; null if it is none. */
    static @Nullable ClientCard read(StoredCard stored) {
        String text = stored.text();
        if (text.length() > CardStore.TEXT_MAX || !isClientId(stored.clientId())) {
            return null;
        }
        String[] lines = text.split("\n", -1);
        Fields head = new Fields(lines[0]);
        if (!head.text().equals(FORMAT)) {
            return null;
        }
        String application = head.shown();
        String host = head.shown();
        long pid = head.number();
        String version = head.shown();
        int heldCount = head.count();
        int waitingCount = head.count();
        if (head.broken) {
            return null;
        }
        long since = Math.min(Math.max(0, stored.written().toMillis()), TIME_MAX);
        List<HeldLock> held = new ArrayList<>();
        List<WaitedLock> waiting = new ArrayList<>();
        List<PermitsUse> permits = new ArrayList<>();
        List<ReadWriteUse> readWrite = new ArrayList<>();
        List<Activity> busiest = new ArrayList<>();
        for (int i = 1; i < lines.length; i++) {
            Fields line = new Fields(lines[i]);
            switch (line.text()) {
                case HELD -> line.addTo(held, CardCollector.SHOWN_MAX, held(line, stored.clientId(), since));
                case WAITING -> line.addTo(waiting, CardCollector.SHOWN_MAX, waiting(line, since));
                case PERMITS -> line.addTo(permits, CardCollector.SHOWN_MAX, permits(line, since));
                case READ_WRITE ->
                    line.addTo(readWrite, CardCollector.SHOWN_MAX, readWrite(line, stored.clientId(), since));
                case BUSY -> line.addTo(busiest, Activities.SHOWN_MAX, busy(line));
                default -> {
                    // Of a later version.
                }
            }
        }
        return new ClientCard(
                stored.clientId(),
                application,
                host,
                pid,
                version,
                stored.heard(),
                List.copyOf(held),
                Math.max(heldCount, held.size()),
                List.copyOf(waiting),
                Math.max(waitingCount, waiting.size()),
                List.copyOf(permits),
                List.copyOf(readWrite),
                List.copyOf(busiest));
    }

    static boolean isTraceParent(String text) {
        return TRACE_PARENT.matcher(text).matches();
    }

    private static boolean isClientId(String id) {
        return !id.isEmpty()
                && id.length() <= CLIENT_ID_MAX
                && Names.printable(id).equals(id);
    }

    private static HeldLock held(Fields line, String clientId, long since) {
        String name = line.text();
        String holderId = HolderId.of(clientId, line.number());
        long token = line.number();
        Duration heldFor = line.age(since);
        String left = line.text();
        Optional<Duration> remaining =
                left.isEmpty() ? Optional.empty() : Optional.of(line.time(line.number(left), -since));
        int waiters = line.count();
        Duration longest = line.age(since);
        return new HeldLock(
                name,
                holderId,
                token,
                heldFor,
                remaining,
                waiters,
                waiters == 0 ? Duration.ZERO : longest,
                line.optional(),
                line.optional().filter(CardText::isTraceParent),
                line.owner());
    }

    private static WaitedLock waiting(Fields line, long since) {
        String name = line.text();
        Duration waited = line.age(since);
        return new WaitedLock(name, waited, line.count(), line.optional(), line.optional(), line.owner());
    }

    private static PermitsUse permits(Fields line, long since) {
        String name = line.text();
        int limit = line.count();
        int leases = line.count();
        int held = line.count();
        Duration heldFor = line.age(since);
        int waiters = line.count();
        Duration waited = line.age(since);
        return new PermitsUse(
                name,
                limit,
                leases,
                held,
                leases == 0 ? Duration.ZERO : heldFor,
                waiters,
                waiters == 0 ? Duration.ZERO : waited);
    }

    private static ReadWriteUse readWrite(Fields line, String clientId, long since) {
        String name = line.text();
        boolean isWriter = line.oneOf(WRITERS, READERS).equals(WRITERS);
        int leases = line.count();
        Duration heldFor = line.age(since);
        String holder = line.text();
        OptionalLong owner = line.owner();
        int waiters = line.count();
        Duration waited = line.age(since);
        return new ReadWriteUse(
                name,
                isWriter,
                leases,
                leases == 0 ? Duration.ZERO : heldFor,
                holder.isEmpty() ? Optional.empty() : Optional.of(HolderId.of(clientId, line.number(holder))),
                owner,
                waiters,
                waiters == 0 ? Duration.ZERO : waited,
                line.owner());
    }

    private static Activity busy(Fields line) {
        return new Activity(line.text(), line.number(), line.number(), line.number(), line.age(0));
    }

    /** The fields of one line, one after the other. */
    private static final class Fields {

        private final String[] fields;
        private int next;
        private boolean broken;

        Fields(String line) {
            fields = line.split("\t", -1);
        }

        <T> void addTo(List<T> list, int most, T entry) {
            if (!broken && list.size() < most) {
                list.add(entry);
            }
        }

        String text() {
            if (next >= fields.length) {
                broken = true;
                return "";
            }
            String field = fields[next++];
            if (field.indexOf('\\') < 0) {
                return field;
            }
            StringBuilder plain = new StringBuilder(field.length());
            for (int i = 0; i < field.length(); i++) {
                char c = field.charAt(i);
                if (c == '\\' && i + 1 < field.length()) {
                    char escaped = field.charAt(++i);
                    plain.append(escaped == 't' ? '\t' : escaped == 'n' ? '\n' : escaped);
                } else {
                    plain.append(c);
                }
            }
            return plain.toString();
        }

        /** Returns one of two texts; another text breaks the line. */
        String oneOf(String one, String other) {
            String field = text();
            broken |= !field.equals(one) && !field.equals(other);
            return field;
        }

        /** Returns a text that nobody looks up: its control characters are escapes. */
        String shown() {
            return Names.printable(text());
        }

        Optional<String> optional() {
            if (next >= fields.length) {
                return Optional.empty();
            }
            String field = shown();
            return field.isEmpty() ? Optional.empty() : Optional.of(field);
        }

        /** Returns the number of an owner; empty in a card of a version that wrote none. */
        OptionalLong owner() {
            Optional<String> field = optional();
            return field.isEmpty() ? OptionalLong.empty() : OptionalLong.of(number(field.get()));
        }

        long number() {
            return number(text());
        }

        long number(String field) {
            try {
                return Long.parseLong(field);
            } catch (NumberFormatException e) {
                broken = true;
                return 0;
            }
        }

        int count() {
            return (int) Math.max(0, Math.min(number(), Integer.MAX_VALUE));
        }

        Duration age(long since) {
            return time(number(), since);
        }

        Duration time(long millis, long more) {
            return Duration.ofMillis(Math.max(0, Math.min(Math.min(Math.max(0, millis), TIME_MAX) + more, TIME_MAX)));
        }
    }
}
