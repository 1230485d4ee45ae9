package io.holdfast.redis.failures;

import io.holdfast.testkit.servers.Installation;
import io.holdfast.testkit.servers.RedisServer;
import java.util.ArrayList;
import java.util.List;

/**
 * On which servers the scenarios run, and how often: {@code -Dholdfast.repeat=N} repeats each,
 * {@code -Dholdfast.only=REGEX} leaves out servers with other labels.
 */
final class FaultServers {

    /** A server's program and the number of the repetition. */
    record Run(Installation installation, int number) {
        @Override
        public String toString() {
            return installation + (number > 1 ? " again " + number : "");
        }
    }

    private FaultServers() {}

    /** Every server that can be run here. */
    static List<Run> all() {
        return times(available());
    }

    /**
     * For scenarios with many servers, which take long: the first, or with {@code -Dholdfast.matrix=true} every one.
     */
    static List<Run> few() {
        List<Installation> available = available();
        return times(Boolean.getBoolean("holdfast.matrix") ? available : available.subList(0, 1));
    }

    private static List<Installation> available() {
        String only = System.getProperty("holdfast.only", ".*");
        return RedisServer.available().stream()
                .filter(installation -> installation.label().matches(only))
                .toList();
    }

    private static List<Run> times(List<Installation> installations) {
        List<Run> runs = new ArrayList<>();
        for (int number = 1; number <= Integer.getInteger("holdfast.repeat", 1); number++) {
            for (Installation installation : installations) {
                runs.add(new Run(installation, number));
            }
        }
        return runs;
    }
}
