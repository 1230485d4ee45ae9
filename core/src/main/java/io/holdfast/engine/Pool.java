package io.holdfast.engine;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** One pool in use here: its lanes, and the gate through which they ask the store. */
final class Pool {

    final Gate gate = new Gate();

    /** Changed only by {@link PoolEngine}, while it maps the name. */
    final Set<Lane> lanes = ConcurrentHashMap.newKeySet();
}
