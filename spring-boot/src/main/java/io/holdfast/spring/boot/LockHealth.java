package io.holdfast.spring.boot;

import io.holdfast.Leadership;
import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LocalLock;
import io.holdfast.LockClient;
import io.holdfast.LockException;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.StoreHealth;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;

/**
 * The health of the locks: whether the store is usable, the state of its parts (members of a quorum, the session with
 * ZooKeeper), and whether held leases are renewed in time. Not for liveness: a restart of the process would certainly
 * lose its leases.
 *
 * @param up whether the store is usable and no lease is lost
 */
record LockHealth(boolean up, Map<String, Object> details) {

    static LockHealth of(ListableBeanFactory beans) {
        return of(BeanFactoryUtils.beansOfTypeIncludingAncestors(beans, LockClient.class));
    }

    /** Returns the health of one client; of several clients, that of each by the name of its bean, up if all are up. */
    static LockHealth of(Map<String, LockClient> clients) {
        if (clients.size() == 1) {
            return of(clients.values().iterator().next());
        }
        boolean up = true;
        Map<String, Object> all = new LinkedHashMap<>();
        for (Map.Entry<String, LockClient> each : clients.entrySet()) {
            LockHealth health = of(each.getValue());
            up &= health.up;
            all.put(each.getKey(), health.details);
        }
        return new LockHealth(up, all);
    }

    private static LockHealth of(LockClient client) {
        int held = 0;
        int lost = 0;
        Duration least = null;
        for (LocalLock lock : client.localLocks()) {
            Lease lease = lock.lease().orElse(null);
            if (lease == null) {
                continue;
            }
            Duration remaining = lease.remaining();
            try {
                lease.ensureValid();
                held++;
                least = least == null || remaining.compareTo(least) < 0 ? remaining : least;
            } catch (LeaseLostException e) {
                lost++;
            } catch (IllegalStateException e) {
                // Released since the list was made.
            }
        }
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("store", client.describeStore());
        details.put("held", held);
        if (least != null) {
            details.put("leastRemaining", DurationText.rounded(least));
        }
        details.put("renewalLag", DurationText.rounded(client.renewalLag()));
        if (lost > 0) {
            details.put("lost", lost);
        }
        try {
            StoreHealth store = client.storeHealth();
            details.putAll(store.details());
            Map<String, Object> leaderships = leaderships(client, store.usable());
            if (!leaderships.isEmpty()) {
                details.put("leaderships", leaderships);
            }
            return new LockHealth(store.usable() && lost == 0, details);
        } catch (LockException e) {
            details.put("error", String.valueOf(e.getMessage()));
            return new LockHealth(false, details);
        }
    }

    /** Returns, for each leadership that the client campaigns for, whether it leads, and otherwise who does. */
    private static Map<String, Object> leaderships(LockClient client, boolean canAsk) {
        Map<String, Object> all = new TreeMap<>();
        for (Leadership each : client.leaderships()) {
            Map<String, Object> one = new LinkedHashMap<>();
            boolean leads = each.isLeader();
            one.put("leads", leads);
            if (!leads && canAsk) {
                each.leader().ifPresent(card -> one.put("leader", card.title()));
            }
            all.merge(each.name(), one, (known, second) -> leads ? second : known);
        }
        return all;
    }
}
