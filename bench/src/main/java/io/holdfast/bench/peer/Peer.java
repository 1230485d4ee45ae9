package io.holdfast.bench.peer;

import java.time.Duration;
import java.util.Arrays;
import java.util.Map;

/** The compared lock clients. They run with their defaults, except for the length of the lease. */
public enum Peer {
    HOLDFAST("holdfast", Traits.ALL),
    REDISSON("redisson", Traits.ALL),
    REDISSON_FAIR("redisson-fair", Traits.REENTRANT),
    REDISSON_SPIN("redisson-spin", Traits.REENTRANT),
    SPRING_SPIN("spring-spin", Traits.REENTRANT),
    SPRING_PUBSUB("spring-pubsub", Traits.REENTRANT),
    /** Spring's lock is not renewed by default; this one is. */
    SPRING_RENEWING("spring-renewing", Traits.REENTRANT),
    LOCK4J("lock4j", Traits.NONE),
    LETTUCE("lettuce", Traits.ASYNC),
    LETTUCE_LEAN("lettuce-lean", Traits.ASYNC),
    LETTUCE_SCRIPTS("lettuce-scripts", Traits.ASYNC),
    /** Between processes only. */
    LETTUCE_QUEUE("lettuce-queue", Traits.NONE),
    /** Between processes only. */
    LETTUCE_HANDOFF("lettuce-handoff", Traits.NONE),
    /** On ZooKeeper only. */
    CURATOR("curator", Traits.REENTRANT),
    /** One of five permits in place of a lock, as its kin. */
    HOLDFAST_PERMITS("holdfast-permits", Traits.NONE),
    REDISSON_PERMITS("redisson-permits", Traits.NONE),
    REDISSON_SEMAPHORE("redisson-semaphore", Traits.NONE),
    /** A reader of a read-write lock. */
    HOLDFAST_READ("holdfast-read", Traits.REENTRANT),
    REDISSON_READ("redisson-read", Traits.REENTRANT),
    /** A writer of a read-write lock. */
    HOLDFAST_WRITE("holdfast-write", Traits.REENTRANT),
    /** On ZooKeeper only, as the next two. */
    CURATOR_PERMITS("curator-permits", Traits.NONE),
    CURATOR_READ("curator-read", Traits.REENTRANT),
    CURATOR_WRITE("curator-write", Traits.REENTRANT),
    /** In a database only, as the next one. */
    SHEDLOCK_JDBC("shedlock-jdbc", Traits.NONE),
    SPRING_JDBC("spring-jdbc", Traits.REENTRANT),
    JEDIS("jedis", Traits.NONE);

    private enum Traits {
        NONE,
        REENTRANT,
        ASYNC,
        ALL
    }

    private final String label;
    private final Traits traits;

    Peer(String label, Traits traits) {
        this.label = label;
        this.traits = traits;
    }

    /** Opens a client with leases of this length. Loads the classes of no other peer, as a cold JVM is measured, too. */
    public Handle open(String uri, Duration lease) {
        return switch (this) {
            case HOLDFAST -> HoldfastHandle.plain(uri, lease);
            case REDISSON -> RedissonHandle.plain(uri, lease);
            case REDISSON_FAIR -> RedissonHandle.fair(uri, lease);
            case REDISSON_SPIN -> RedissonHandle.spin(uri, lease);
            case SPRING_SPIN -> SpringHandle.spin(uri, lease);
            case SPRING_PUBSUB -> SpringHandle.pubSub(uri, lease);
            case SPRING_RENEWING -> SpringHandle.renewing(uri, lease);
            case LOCK4J -> new Lock4jHandle(uri, lease);
            case LETTUCE -> new LettuceHandle(uri, lease);
            case LETTUCE_LEAN -> new LettuceLeanHandle(uri, lease);
            case LETTUCE_SCRIPTS -> new LettuceScriptsHandle(uri, lease);
            case LETTUCE_QUEUE -> new LettuceQueueHandle(uri);
            case LETTUCE_HANDOFF -> new LettuceHandoffHandle(uri, lease);
            case CURATOR -> CuratorHandle.plain(uri);
            case HOLDFAST_PERMITS -> PermitsHandle.holdfast(uri, lease);
            case REDISSON_PERMITS -> PermitsHandle.expirable(uri);
            case REDISSON_SEMAPHORE -> PermitsHandle.semaphore(uri);
            case HOLDFAST_READ -> HoldfastHandle.read(uri, lease);
            case REDISSON_READ -> RedissonHandle.read(uri, lease);
            case HOLDFAST_WRITE -> HoldfastHandle.write(uri, lease);
            case CURATOR_PERMITS -> PermitsHandle.curator(uri);
            case CURATOR_READ -> CuratorHandle.read(uri);
            case CURATOR_WRITE -> CuratorHandle.write(uri);
            case SHEDLOCK_JDBC -> new ShedLockJdbcHandle(uri, lease);
            case SPRING_JDBC -> new SpringJdbcHandle(uri, lease);
            case JEDIS -> new JedisHandle(uri, lease);
        };
    }

    public String label() {
        return label;
    }

    public boolean isReentrant() {
        return traits == Traits.ALL || traits == Traits.REENTRANT;
    }

    public boolean isAsync() {
        return traits == Traits.ALL || traits == Traits.ASYNC;
    }

    /** Returns the key in Redis whose expiry ends the lock. */
    public String key(String name) {
        if (label.startsWith("spring")) {
            return SpringHandle.REGISTRY + ":" + name;
        }
        return this == HOLDFAST ? "lock:" + name : name;
    }

    public static Peer of(String label) {
        return Arrays.stream(values())
                .filter(peer -> peer.label.equals(label))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("peer: " + label + " (expected: one of "
                        + Arrays.stream(values()).map(Peer::label).toList() + ")"));
    }

    /**
     * Returns how many of the commands that the server counted came over the wire; scripts called the others.
     *
     * @param counts calls by command, as INFO commandstats shows them
     */
    public double onTheWire(Map<String, Long> counts) {
        double scripts = count(counts, "evalsha") + count(counts, "eval");
        double subscriptions = count(counts, "subscribe") + count(counts, "unsubscribe") + count(counts, "ping");
        double own = switch (this) {
            // SET … NX PX; the peers' script calls only GET and DEL.
            case LETTUCE, JEDIS -> count(counts, "set");
            // Each unlock's script calls SET once, and a DEL of the set key follows it.
            case REDISSON, REDISSON_FAIR, REDISSON_SPIN -> count(counts, "set");
            // The script of the lock calls SET, too.
            case REDISSON_READ -> count(counts, "set") / 2.0;
            default -> 0;
        };
        return scripts + subscriptions + own;
    }

    private static long count(Map<String, Long> counts, String command) {
        return counts.getOrDefault(command, 0L);
    }
}
