package io.holdfast.bench.peer;

import java.time.Duration;
import java.util.Arrays;
import java.util.Map;

/** The compared lock clients. They run with their defaults, except for the length of the lease. */
public enum Peer {
    HOLDFAST("holdfast", Traits.ALL) {
        @Override
        public Handle open(String uri, Duration lease) {
            return new HoldfastHandle(uri, lease);
        }
    },
    REDISSON("redisson", Traits.ALL) {
        @Override
        public Handle open(String uri, Duration lease) {
            return RedissonHandle.plain(uri, lease);
        }
    },
    REDISSON_FAIR("redisson-fair", Traits.REENTRANT) {
        @Override
        public Handle open(String uri, Duration lease) {
            return RedissonHandle.fair(uri, lease);
        }
    },
    REDISSON_SPIN("redisson-spin", Traits.REENTRANT) {
        @Override
        public Handle open(String uri, Duration lease) {
            return RedissonHandle.spin(uri, lease);
        }
    },
    SPRING_SPIN("spring-spin", Traits.REENTRANT) {
        @Override
        public Handle open(String uri, Duration lease) {
            return SpringHandle.spin(uri, lease);
        }
    },
    SPRING_PUBSUB("spring-pubsub", Traits.REENTRANT) {
        @Override
        public Handle open(String uri, Duration lease) {
            return SpringHandle.pubSub(uri, lease);
        }
    },
    /** Spring's lock is not renewed by default; this one is. */
    SPRING_RENEWING("spring-renewing", Traits.REENTRANT) {
        @Override
        public Handle open(String uri, Duration lease) {
            return SpringHandle.renewing(uri, lease);
        }
    },
    LOCK4J("lock4j", Traits.NONE) {
        @Override
        public Handle open(String uri, Duration lease) {
            return new Lock4jHandle(uri, lease);
        }
    },
    LETTUCE("lettuce", Traits.ASYNC) {
        @Override
        public Handle open(String uri, Duration lease) {
            return new LettuceHandle(uri, lease);
        }
    },
    LETTUCE_LEAN("lettuce-lean", Traits.ASYNC) {
        @Override
        public Handle open(String uri, Duration lease) {
            return new LettuceLeanHandle(uri, lease);
        }
    },
    LETTUCE_SCRIPTS("lettuce-scripts", Traits.ASYNC) {
        @Override
        public Handle open(String uri, Duration lease) {
            return new LettuceScriptsHandle(uri, lease);
        }
    },
    /** Between processes only. */
    LETTUCE_QUEUE("lettuce-queue", Traits.NONE) {
        @Override
        public Handle open(String uri, Duration lease) {
            return new LettuceQueueHandle(uri);
        }
    },
    /** Between processes only. */
    LETTUCE_HANDOFF("lettuce-handoff", Traits.NONE) {
        @Override
        public Handle open(String uri, Duration lease) {
            return new LettuceHandoffHandle(uri, lease);
        }
    },
    /** On ZooKeeper only. */
    CURATOR("curator", Traits.REENTRANT) {
        @Override
        public Handle open(String uri, Duration lease) {
            return new CuratorHandle(uri);
        }
    },
    /** One of five permits in place of a lock, as its kin. */
    HOLDFAST_PERMITS("holdfast-permits", Traits.NONE) {
        @Override
        public Handle open(String uri, Duration lease) {
            return PermitsHandle.holdfast(uri, lease);
        }
    },
    REDISSON_PERMITS("redisson-permits", Traits.NONE) {
        @Override
        public Handle open(String uri, Duration lease) {
            return PermitsHandle.expirable(uri);
        }
    },
    REDISSON_SEMAPHORE("redisson-semaphore", Traits.NONE) {
        @Override
        public Handle open(String uri, Duration lease) {
            return PermitsHandle.semaphore(uri);
        }
    },
    JEDIS("jedis", Traits.NONE) {
        @Override
        public Handle open(String uri, Duration lease) {
            return new JedisHandle(uri, lease);
        }
    };

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

    /** Opens a client with leases of this length. */
    public abstract Handle open(String uri, Duration lease);

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
            default -> 0;
        };
        return scripts + subscriptions + own;
    }

    private static long count(Map<String, Long> counts, String command) {
        return counts.getOrDefault(command, 0L);
    }
}
