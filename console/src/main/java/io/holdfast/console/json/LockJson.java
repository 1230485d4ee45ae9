package io.holdfast.console.json;

import io.holdfast.ClientCard;
import io.holdfast.console.Cycle;
import io.holdfast.console.Holder;
import io.holdfast.console.LockPicture;
import io.holdfast.console.LockRow;
import io.holdfast.console.PermitsInUse;
import io.holdfast.console.Queued;
import io.holdfast.console.ReadWriteInUse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Pictures as JSON. Fields may be added; none is removed or renamed. */
public final class LockJson {

    private LockJson() {}

    /** Returns locks, clients and cycles. */
    public static Map<String, @Nullable Object> of(LockPicture picture, List<LockRow> locks) {
        return Json.object(
                "locks", locks.stream().map(LockJson::of).toList(),
                "clients",
                        picture.clients().stream()
                                .map(card -> client(picture, card))
                                .toList(),
                "cycles", picture.cycles().stream().map(LockJson::of).toList(),
                "suspectedCycles", picture.suspectedCycles().size(),
                "possibleCycles",
                        picture.possibleCycles().stream().map(LockJson::of).toList(),
                "unnamedLocks", picture.unnamedLocks());
    }

    /** Returns one lock. */
    public static Map<String, @Nullable Object> of(LockRow lock) {
        return Json.object(
                "name", lock.name(),
                "holder", lock.holder().map(LockJson::of).orElse(null),
                "permits", lock.permits().map(LockJson::of).orElse(null),
                "readWrite", lock.readWrite().map(LockJson::of).orElse(null),
                "flags", flags(lock),
                "waiters", lock.waiters(),
                "longestWaitMillis", lock.longestWait().toMillis(),
                "queue", queue(lock),
                "acquiredPerSecond", lock.acquiredPerSecond(),
                "handedOnPerSecond", lock.handedOnPerSecond());
    }

    /** Returns the names of the flags. */
    public static List<String> flags(LockRow lock) {
        return lock.flags().stream().map(Enum::name).toList();
    }

    /** Returns the clients whose callers wait. */
    public static List<?> queue(LockRow lock) {
        return lock.queue().stream().map(LockJson::of).toList();
    }

    private static Map<String, @Nullable Object> of(Holder holder) {
        return Json.object(
                "id", holder.id(),
                "title", holder.title(),
                "fencingToken",
                        holder.fencingToken().isPresent()
                                ? Long.toString(holder.fencingToken().getAsLong())
                                : null,
                "heldMillis", millis(holder.heldFor().orElse(null)),
                "endsInMillis", millis(holder.endsIn().orElse(null)),
                "renewed", holder.isRenewed(),
                "thread", holder.thread().orElse(null),
                "traceId", holder.traceId().orElse(null));
    }

    private static Map<String, @Nullable Object> of(PermitsInUse permits) {
        return Json.object(
                "used", permits.used(),
                "limits", permits.limits(),
                "title", permits.title(),
                "holders",
                        permits.holders().stream()
                                .map(holder -> Json.object(
                                        "client", holder.client().id(),
                                        "title", holder.client().title(),
                                        "leases", holder.leases(),
                                        "permits", holder.permits(),
                                        "heldMillis", holder.heldFor().toMillis(),
                                        "freeInMillis", millis(holder.freeIn().orElse(null))))
                                .toList());
    }

    private static Map<String, @Nullable Object> of(ReadWriteInUse lock) {
        return Json.object(
                "title", lock.title(),
                "holders",
                        lock.holders().stream()
                                .map(holder -> Json.object(
                                        "client", holder.client().id(),
                                        "title", holder.client().title(),
                                        "mode", holder.mode().text(),
                                        "leases", holder.leases(),
                                        "heldMillis", holder.heldFor().toMillis(),
                                        "freeInMillis", millis(holder.freeIn().orElse(null))))
                                .toList());
    }

    private static Map<String, @Nullable Object> of(Queued queued) {
        return Json.object(
                "client", queued.client().id(),
                "title", queued.client().title(),
                "waiters", queued.waiters(),
                "waitedMillis", queued.waited().toMillis(),
                "thread", queued.thread().orElse(null),
                "mode", queued.mode().map(ReadWriteInUse.Mode::text).orElse(null));
    }

    private static Map<String, @Nullable Object> client(LockPicture picture, ClientCard card) {
        return Json.object(
                "id", card.id(),
                "application", card.application(),
                "host", card.host(),
                "pid", card.pid(),
                "version", card.version(),
                "heardMillis", card.heard().toMillis(),
                "silent", picture.isSilent(card),
                "held", held(card),
                "waiting", waiting(card));
    }

    /** Returns how many locks a client holds, and leases of permits and of read-write locks. */
    private static int held(ClientCard card) {
        return card.heldCount()
                + card.permits().stream()
                        .mapToInt(ClientCard.PermitsUse::leases)
                        .sum()
                + card.readWrite().stream()
                        .mapToInt(ClientCard.ReadWriteUse::leases)
                        .sum();
    }

    /** Returns how many of its callers wait for any of them. */
    private static int waiting(ClientCard card) {
        return card.waitingCount()
                + card.permits().stream()
                        .mapToInt(ClientCard.PermitsUse::waiters)
                        .sum()
                + card.readWrite().stream()
                        .mapToInt(ClientCard.ReadWriteUse::waiters)
                        .sum();
    }

    private static List<Map<String, @Nullable Object>> of(Cycle cycle) {
        return cycle.steps().stream()
                .map(step -> Json.object(
                        "client", step.client().id(),
                        "title", step.client().title(),
                        "holds", step.holds(),
                        "holderId", step.holderId(),
                        "waitsFor", step.waitsFor(),
                        "waitedMillis", step.waited().toMillis()))
                .toList();
    }

    private static @Nullable Long millis(@Nullable Duration duration) {
        return duration == null ? null : duration.toMillis();
    }
}
