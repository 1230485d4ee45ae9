package io.holdfast.bench.harness;

import java.util.List;
import java.util.Map;

/** One question, asked in the same way of several peers. */
interface Case {

    String id();

    /** The peers that can be asked it, and are worth the time. */
    List<String> peers(Profile profile);

    /** The sizes that it is asked for, such as numbers of threads. */
    List<Integer> sizes(Profile profile);

    /** Java options of the children. */
    default List<String> jvmArgs() {
        return List.of("-Xmx1g", "-XX:+UseSerialGC");
    }

    /** How often each cell is measured. */
    default int rounds(Profile profile) {
        return profile.rounds();
    }

    /** Measures one cell once. A figure {@code violations} above zero fails the run. */
    Map<String, Double> measure(Bench bench, String peer, int size) throws Exception;
}
