package io.holdfast.console.web;

import io.holdfast.ClientCard;
import io.holdfast.console.LockPicture;
import io.holdfast.console.LockRow;
import io.holdfast.console.PermitsInUse;
import io.holdfast.console.ReadWriteInUse;
import io.holdfast.console.json.LockJson;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Writes a picture for the page: counts of everything, and the details that a person can look at. */
final class PictureJson {

    private static final int URGENT_MAX = 200;
    private static final int BUSIEST_MAX = 50;
    private static final int FOUND_MAX = 200;
    private static final int CLIENTS_MAX = 200;
    private static final int CYCLES_MAX = 20;
    private static final int QUEUE_MAX = 50;

    private PictureJson() {}

    /**
     * Returns a picture.
     *
     * @param names locks that are in it even if others are more urgent
     * @param filters texts of which the most urgent locks are in it, too
     */
    static Map<String, @Nullable Object> of(LockPicture picture, Set<String> names, Set<String> filters) {
        List<LockRow> locks = picture.locks();
        LinkedHashSet<LockRow> shown = new LinkedHashSet<>();
        locks.stream().limit(URGENT_MAX).forEach(shown::add);
        locks.stream()
                .filter(row -> row.acquiredPerSecond() > 0)
                .sorted(Comparator.comparingDouble(LockRow::acquiredPerSecond).reversed())
                .limit(BUSIEST_MAX)
                .forEach(shown::add);
        locks.stream().filter(row -> names.contains(row.name())).forEach(shown::add);
        Map<String, @Nullable Object> found = new LinkedHashMap<>(); // how many there are, by filter
        for (String filter : filters) {
            List<LockRow> matching =
                    locks.stream().filter(row -> matches(row, filter)).toList();
            matching.stream().limit(FOUND_MAX).forEach(shown::add);
            found.put(filter, matching.size());
        }

        Map<String, @Nullable Object> json = LockJson.of(shortened(picture), List.of());
        json.put("locks", shown.stream().map(PictureJson::of).toList());
        json.put("lockCount", locks.size());
        json.put("found", found);
        json.put(
                "heldCount",
                locks.stream()
                        .filter(row -> row.holder().isPresent() || row.heldFor().isPresent())
                        .count());
        json.put("waiterCount", locks.stream().mapToInt(LockRow::waiters).sum());
        json.put("acquiredPerSecond", picture.acquiredPerSecond());
        json.put("clientCount", picture.clients().size());
        json.put(
                "silentCount",
                picture.clients().stream().filter(picture::isSilent).count());
        json.put("cycleCount", picture.cycles().size());
        json.put("possibleCycleCount", picture.possibleCycles().size());
        return json;
    }

    /** Returns whether the page would show the lock under this filter. */
    private static boolean matches(LockRow row, String filter) {
        String wanted = filter.toLowerCase(Locale.ROOT);
        return Stream.of(
                        Stream.of(row.name()),
                        row.holder().stream().flatMap(holder -> Stream.of(holder.title(), holder.id())),
                        row.permits().stream()
                                .flatMap(permits -> permits.holders().stream())
                                .map(holder -> holder.client().title()),
                        row.readWrite().stream()
                                .flatMap(lock -> lock.holders().stream())
                                .map(holder -> holder.client().title()),
                        row.queue().stream().map(queued -> queued.client().title()))
                .flatMap(texts -> texts)
                .anyMatch(text -> text.toLowerCase(Locale.ROOT).contains(wanted));
    }

    private static LockPicture shortened(LockPicture picture) {
        Comparator<ClientCard> order = Comparator.comparing(picture::isSilent)
                .thenComparingInt(ClientCard::waitingCount)
                .thenComparingInt(ClientCard::heldCount)
                .reversed()
                .thenComparing(ClientCard::title);
        return new LockPicture(
                List.of(),
                picture.clients().stream().sorted(order).limit(CLIENTS_MAX).toList(),
                picture.cycles().stream().limit(CYCLES_MAX).toList(),
                picture.suspectedCycles(),
                picture.possibleCycles().stream().limit(CYCLES_MAX).toList(),
                picture.period(),
                picture.unnamedLocks());
    }

    private static Map<String, @Nullable Object> of(LockRow row) {
        LockRow shortened = new LockRow(
                row.name(),
                row.holder(),
                row.permits()
                        .map(permits -> new PermitsInUse(
                                permits.used(),
                                permits.limits(),
                                permits.holders().stream().limit(QUEUE_MAX).toList())),
                row.readWrite()
                        .map(lock -> new ReadWriteInUse(
                                lock.holders().stream().limit(QUEUE_MAX).toList())),
                row.flags(),
                row.waiters(),
                row.longestWait(),
                row.queue().stream().limit(QUEUE_MAX).toList(),
                row.acquiredPerSecond(),
                row.handedOnPerSecond());
        Map<String, @Nullable Object> json = LockJson.of(shortened);
        json.put("queueClients", row.queue().size());
        json.put(
                "holderClients",
                row.permits()
                        .map(permits -> permits.holders().size())
                        .or(() -> row.readWrite().map(lock -> lock.holders().size()))
                        .orElse(0));
        json.put(
                "consequenceOfRelease",
                row.holder().map(row::consequenceOfRelease).orElse(null));
        return json;
    }
}
