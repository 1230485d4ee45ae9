package io.holdfast.jmx;

import static java.util.Objects.requireNonNull;

import io.holdfast.ForcedRelease;
import io.holdfast.Leadership;
import io.holdfast.Lease;
import io.holdfast.LocalLock;
import io.holdfast.LockClient;
import io.holdfast.LockClientClosedException;
import io.holdfast.LockException;
import io.holdfast.spi.EngineLog;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * Shows clients by JMX, as {@link LockClientMXBean}, in the platform's MBean server. Thread-safe. Needs the module
 * {@code java.management}, which the other packages of this module do not.
 *
 * <pre>{@code
 * LockClient locks = LockClient.connect("redis://127.0.0.1:6379");
 * ObjectName name = LockManagement.register(locks);
 * log.info("jconsole shows the locks of this process as {}", name);      // io.holdfast:type=LockClient,id=hf-…
 * }</pre>
 */
public final class LockManagement {

    private static final int MOST = 200;

    private LockManagement() {}

    /**
     * Registers a client under {@code io.holdfast:type=LockClient,id=…}, for reading only. {@link LockClient#close}
     * unregisters it; a client that is opened again has a new id and must be registered again by the caller.
     *
     * @return the name of the MBean
     * @throws LockClientClosedException if the client is closed
     * @throws IllegalStateException if the client is registered already
     */
    public static ObjectName register(LockClient client) {
        return register(client, false);
    }

    /**
     * Registers a client, as {@link #register(LockClient)} does, and allows its users to end holds by {@link
     * LockClientMXBean#forceRelease}. Everybody who may use the MBean server can then take any lock from its holder.
     *
     * @param allowForceRelease whether {@code forceRelease} is allowed
     */
    public static ObjectName register(LockClient client, boolean allowForceRelease) {
        requireNonNull(client, "client");
        String id = client.id();
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ObjectName name;
        try {
            name = new ObjectName("io.holdfast:type=LockClient,id=" + id);
            server.registerMBean(new Managed(client, id, allowForceRelease), name);
        } catch (JMException e) {
            throw new IllegalStateException(
                    "The client " + id + " could not be registered with JMX: " + e
                            + " (expected: one registration for each client)",
                    e);
        }
        client.whenClosed().thenRun(() -> unregister(server, name));
        if (!server.isRegistered(name)) {
            throw new LockClientClosedException("The client " + id + " is closed, so JMX cannot show it");
        }
        return name;
    }

    private static void unregister(MBeanServer server, ObjectName name) {
        try {
            server.unregisterMBean(name);
        } catch (InstanceNotFoundException gone) {
            // Another thread unregistered it, which is what was wanted.
        } catch (JMException e) {
            EngineLog.logger().log(System.Logger.Level.WARNING, "The MBean " + name + " could not be unregistered", e);
        }
    }

    /** @param id the client's id at the registration, for which the bean is unregistered before it changes */
    private record Managed(LockClient client, String id, boolean allowForceRelease) implements LockClientMXBean {

        @Override
        public String getId() {
            return id;
        }

        @Override
        public String getStore() {
            return client.describeStore();
        }

        @Override
        public int getHeldCount() {
            return (int) locks().filter(lock -> lock.lease().isPresent()).count();
        }

        @Override
        public int getWaitingCount() {
            return locks().mapToInt(LocalLock::waiting).sum();
        }

        @Override
        public long getOldestWaitMillis() {
            return locks().filter(lock -> !lock.name().startsWith(Leadership.LOCK_PREFIX))
                    .mapToLong(lock -> lock.longestWait().toMillis())
                    .max()
                    .orElse(0);
        }

        @Override
        public List<String> getLeads() {
            return client.leaderships().stream()
                    .filter(Leadership::isLeader)
                    .map(Leadership::name)
                    .toList();
        }

        @Override
        public long getRenewalLagMillis() {
            return client.renewalLag().toMillis();
        }

        private Stream<LocalLock> locks() {
            return client.localLocks().stream();
        }

        @Override
        public List<LockInfo> getLocks() {
            return locks().sorted(Comparator.comparing(LocalLock::longestWait)
                            .thenComparing(LocalLock::heldFor)
                            .reversed())
                    .limit(MOST)
                    .<LockInfo>map(Info::new)
                    .toList();
        }

        @Override
        public String findHolder(String name) {
            return answer(() -> client.inspect(name).holder().orElse(""));
        }

        @Override
        public ForceInfo forceRelease(String name, String holder) {
            if (!allowForceRelease) {
                throw new UnsupportedOperationException(
                        "A release by force is not allowed by JMX (expected: a client that was registered by"
                                + " LockManagement.register(client, true))");
            }
            return answer(() -> new Forced(client.forceRelease(name, holder)));
        }

        private static <T> T answer(Supplier<T> command) {
            try {
                return command.get();
            } catch (LockException e) {
                // A remote console does not know our classes.
                throw new IllegalStateException(e.getMessage());
            }
        }
    }

    private record Forced(ForcedRelease release) implements LockClientMXBean.ForceInfo {

        @Override
        public String getOutcome() {
            return release.outcome().name();
        }

        @Override
        public String getHolder() {
            return release.holder().orElse("");
        }
    }

    private record Info(LocalLock lock) implements LockClientMXBean.LockInfo {

        @Override
        public String getName() {
            return lock.name();
        }

        @Override
        public boolean isHeld() {
            return lock.lease().isPresent();
        }

        @Override
        public long getFencingToken() {
            return lock.lease().map(Lease::fencingToken).orElse(0L);
        }

        @Override
        public long getHeldMillis() {
            return lock.heldFor().toMillis();
        }

        @Override
        public long getRemainingMillis() {
            return lock.lease().map(Lease::remaining).orElse(Duration.ZERO).toMillis();
        }

        @Override
        public int getWaiting() {
            return lock.waiting();
        }

        @Override
        public long getLongestWaitMillis() {
            return lock.longestWait().toMillis();
        }
    }
}
