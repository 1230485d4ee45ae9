package io.holdfast.spring.boot;

import io.holdfast.ForcedRelease;
import io.holdfast.Leadership;
import io.holdfast.LocalLock;
import io.holdfast.LockClient;
import io.holdfast.LockState;
import io.holdfast.PermitsState;
import io.holdfast.ReadWriteState;
import io.holdfast.Term;
import io.holdfast.spring.LockMode;
import io.holdfast.spring.declaration.LockedMethods;
import io.holdfast.spring.declaration.LockedOperation;
import io.holdfast.spring.declaration.Once;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;

/**
 * Shows at {@code /actuator/locks} what this instance holds, waits for and leads, and at {@code /actuator/locks/{name}}
 * the state of a name in the store. DELETE of the latter, with the parameter {@code holder}, releases the lock of that
 * holder by force; it needs {@code management.endpoint.locks.access=unrestricted}, or a setting that gives all
 * endpoints unrestricted access.
 */
@Endpoint(id = "locks", defaultAccess = Access.READ_ONLY)
final class LocksEndpoint {

    /** The key beside the names of the clients under which the declarations are shown. */
    private static final String DECLARED = "declared";

    private final Map<String, LockClient> clients;
    private final LockedMethods methods;

    LocksEndpoint(Map<String, LockClient> clients, LockedMethods methods) {
        this.clients = Map.copyOf(clients);
        this.methods = methods;
    }

    /** Returns the local locks and leaderships of each client, and the declarations of locked methods. */
    @ReadOperation
    Map<String, Object> locks() {
        Map<String, Object> all = new LinkedHashMap<>();
        clients.forEach((bean, client) -> {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("store", client.describeStore());
            one.put(
                    "locks",
                    client.localLocks().stream().map(LocksEndpoint::local).toList());
            one.put(
                    "leaderships",
                    client.leaderships().stream().map(LocksEndpoint::leadership).toList());
            all.put(bean, one);
        });
        all.put(DECLARED, methods.all().map(LocksEndpoint::declared).toList());
        return all;
    }

    /** Returns the state of the name in the store of each client; of its permits and read-write lock, who holds any. */
    @ReadOperation
    Map<String, Object> lock(@Selector String name) {
        Map<String, Object> all = new LinkedHashMap<>();
        clients.forEach((bean, client) -> all.put(bean, state(client, name)));
        return all;
    }

    private static Map<String, Object> state(LockClient client, String name) {
        Map<String, Object> shown = state(client.inspect(name));
        if (!client.hasPermits()) {
            return shown;
        }
        PermitsState permits = client.permits(name, 1).inspect();
        if (permits.isUsed() || permits.waiting() > 0) {
            Map<String, Object> pool = new LinkedHashMap<>();
            pool.put("used", permits.used());
            pool.put("waiting", permits.waiting());
            pool.put(
                    "holders",
                    permits.holds().stream()
                            .map(hold ->
                                    holder(hold.holder(), hold.title(), "permits", hold.permits(), hold.remaining()))
                            .toList());
            shown.put("permits", pool);
        }
        ReadWriteState readWrite = client.getReadWriteLock(name).inspect();
        if (readWrite.isHeld() || readWrite.waiting() > 0) {
            Map<String, Object> pool = new LinkedHashMap<>();
            pool.put("waiting", readWrite.waiting());
            pool.put(
                    "holders",
                    readWrite.holds().stream()
                            .map(hold -> holder(
                                    hold.holder(),
                                    hold.title(),
                                    "mode",
                                    (hold.isWriter() ? LockMode.WRITE : LockMode.READ).name(),
                                    hold.remaining()))
                            .toList());
            shown.put("readWrite", pool);
        }
        return shown;
    }

    private static Map<String, Object> holder(
            String holder, String title, String what, Object share, Duration remaining) {
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("holder", holder);
        shown.put("title", title);
        shown.put(what, share);
        shown.put("remaining", text(remaining));
        return shown;
    }

    /**
     * Ends the hold of this holder on the lock, the permits or the read-write lock of the name, in the store of each
     * client. The holder is a parameter of the request. Returns what became of it.
     */
    @DeleteOperation
    Map<String, Object> release(@Selector String name, String holder) {
        Map<String, Object> all = new LinkedHashMap<>();
        clients.forEach((bean, client) -> all.put(bean, released(release(client, name, holder))));
        return all;
    }

    /** Holder ids are never used twice, so at most one of the three has this hold. */
    private static ForcedRelease release(LockClient client, String name, String holder) {
        ForcedRelease ofLock = client.forceRelease(name, holder);
        if (ofLock.isEnded() || !client.hasPermits()) {
            return ofLock;
        }
        ForcedRelease ofPermits = client.permits(name, 1).forceRelease(holder);
        if (ofPermits.isEnded()) {
            return ofPermits;
        }
        ForcedRelease ofReadWrite = client.getReadWriteLock(name).forceRelease(holder);
        return ofReadWrite.isEnded() ? ofReadWrite : ofLock;
    }

    private static Map<String, Object> released(ForcedRelease release) {
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("outcome", release.outcome().name());
        release.holder().ifPresent(holder -> shown.put("holder", holder));
        return shown;
    }

    private static Map<String, Object> declared(LockedOperation operation) {
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("method", operation.describe());
        shown.put("names", operation.describeNames());
        switch (operation.kind()) {
            case LOCK -> {}
            case ONCE, REQUEST -> {
                Once once = operation.once();
                if (once != null) {
                    shown.put("keepFor", text(once.keepFor()));
                }
            }
            case READ, WRITE -> shown.put("mode", operation.kind().name());
            case PERMITS -> {
                shown.put("permits", operation.limit().describe());
                shown.put("weight", operation.weight().describe());
            }
        }
        shown.put(
                "waitTime",
                operation.options().waitAtMost().map(LocksEndpoint::text).orElse("unlimited"));
        operation.options().leaseFor().ifPresent(lease -> shown.put("leaseTime", text(lease)));
        operation.options().holdAtMost().ifPresent(most -> shown.put("holdAtMost", text(most)));
        if (!operation.holdAtLeast().isZero()) {
            shown.put("holdAtLeast", text(operation.holdAtLeast()));
        }
        shown.put("onBusy", operation.busyAnswer() == null ? operation.onBusy().name() : "ANSWER");
        if (!operation.client().isEmpty()) {
            shown.put("client", operation.client());
        }
        return shown;
    }

    private static Map<String, Object> local(LocalLock lock) {
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("name", lock.name());
        shown.put("held", lock.lease().isPresent());
        lock.lease().ifPresent(lease -> {
            shown.put("heldFor", text(lock.heldFor()));
            // As text: many readers of JSON round numbers of this size.
            shown.put("fencingToken", Long.toString(lease.fencingToken()));
            shown.put("remaining", text(lease.remaining()));
        });
        shown.put("waiting", lock.waiting());
        if (lock.waiting() > 0) {
            shown.put("longestWait", text(lock.longestWait()));
        }
        return shown;
    }

    private static Map<String, Object> leadership(Leadership leadership) {
        Map<String, Object> shown = new LinkedHashMap<>();
        Optional<Term> term = leadership.term();
        shown.put("name", leadership.name());
        shown.put("leads", term.isPresent());
        term.ifPresent(now -> shown.put("fencingToken", Long.toString(now.fencingToken())));
        return shown;
    }

    private static Map<String, Object> state(LockState state) {
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("name", state.name());
        shown.put("locked", state.isLocked());
        state.holder().ifPresent(holder -> shown.put("holder", holder));
        state.remaining().ifPresent(remaining -> shown.put("remaining", text(remaining)));
        state.fencingToken().ifPresent(token -> shown.put("fencingToken", Long.toString(token)));
        shown.put("waitingClients", state.waitingClients());
        return shown;
    }

    private static String text(Duration duration) {
        return Duration.ofMillis(duration.toMillis()).toString();
    }
}
