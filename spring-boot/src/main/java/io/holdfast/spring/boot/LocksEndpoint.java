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
 * {@code /actuator/locks}: what this instance holds and waits for; {@code /actuator/locks/{name}}: what the store says of a name;
 * DELETE of that: forced release, which is not there by default: {@code management.endpoint.locks.access=unrestricted} brings
 * it, and so do the settings that give all endpoints unrestricted access.
 */
@Endpoint(id = "locks", defaultAccess = Access.READ_ONLY)
final class LocksEndpoint {

    private final Map<String, LockClient> clients;

    LocksEndpoint(Map<String, LockClient> clients) {
        this.clients = Map.copyOf(clients);
    }

    /** By client. */
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

    /** What each client's store says of the name. */
    @ReadOperation
    Map<String, Object> lock(@Selector String name) {
        Map<String, Object> all = new LinkedHashMap<>();
        clients.forEach((bean, client) -> all.put(bean, state(client.inspect(name))));
        return all;
    }

    /** True for each client in whose store there was a hold. */
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
            // As text: JSON numbers of this size lose digits in many readers.
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
