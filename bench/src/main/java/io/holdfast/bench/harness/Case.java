package io.holdfast.bench.harness;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One measurement that is made in the same way of several peers. */
interface Case {

    String id();

    /** Returns the peers to measure. */
    List<String> peers(Profile profile);

    /** Returns the sizes to measure, such as numbers of threads. */
    List<Integer> sizes(Profile profile);

    /** Returns the Java options of the children. */
    default List<String> jvmArgs() {
        return List.of("-Xmx1g", "-XX:+UseSerialGC");
    }

    /** Returns how many times to measure each cell. */
    default int rounds(Profile profile) {
        return profile.rounds();
    }

    /** Returns whether all peers are measured at the same time, by {@link #measureTogether}. */
    default boolean isTogether() {
        return false;
    }

    /** Measures the cells of all peers once. Returns figures by peer. */
    default Map<String, Map<String, Double>> measureTogether(Bench bench, List<String> peers, int size)
            throws Exception {
        Map<String, Map<String, Double>> figures = new LinkedHashMap<>();
        for (String peer : peers) {
            figures.put(peer, measure(bench, peer, size));
        }
        return figures;
    }

    /** Measures one cell once. A figure {@code violations} above zero fails the run. */
    Map<String, Double> measure(Bench bench, String peer, int size) throws Exception;
}
