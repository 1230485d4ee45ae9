package io.holdfast.spring.boot;

import io.holdfast.LocalLock;
import io.holdfast.LockClient;
import io.holdfast.LockState;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;

/**
 * Shows at {@code /actuator/locks} what this instance holds and waits for, and at {@code /actuator/locks/{name}} the
 * state of a name in the store. DELETE of the latter forces a release; it needs {@code
 * management.endpoint.locks.access=unrestricted}, or a setting that gives all endpoints unrestricted access.
 */
@Endpoint(id = "locks", defaultAccess = Access.READ_ONLY)
final class LocksEndpoint {

    private final Map<String, LockClient> clients;

    LocksEndpoint(Map<String, LockClient> clients) {
        this.clients = Map.copyOf(clients);
    }

    /** Returns the local locks of each client. */
    @ReadOperation
    Map<String, Object> locks() {
        Map<String, Object> all = new LinkedHashMap<>();
        clients.forEach((bean, client) -> {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("store", client.describeStore());
            one.put(
                    "locks",
                    client.localLocks().stream().map(LocksEndpoint::local).toList());
            all.put(bean, one);
        });
        return all;
    }

    /** Returns the state of the name in the store of each client. */
    @ReadOperation
    Map<String, Object> lock(@Selector String name) {
        Map<String, Object> all = new LinkedHashMap<>();
        clients.forEach((bean, client) -> all.put(bean, state(client.inspect(name))));
        return all;
    }

    /** Returns true for each client whose store had a hold on the name. */
    @DeleteOperation
    Map<String, Boolean> release(@Selector String name) {
        Map<String, Boolean> all = new LinkedHashMap<>();
        clients.forEach((bean, client) -> all.put(bean, client.forceRelease(name)));
        return all;
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
