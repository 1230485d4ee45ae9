package io.holdfast.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import java.util.function.DoubleUnaryOperator;

/** The goals of the project and the figures of a run. A ratio is the median of the ratios of the rounds. */
final class Goals extends GoalLines {

    private static final String US = "holdfast";

    private final Results results;

    Goals(Results results) {
        this.results = results;
    }

    List<Line> lines() {
        commands();
        pairs("1 thread, own name", "uncontended", 1, 0.95, 1);
        pairs("8 threads, own names", "uncontended", 8, 1, 1);
        atMost(
                "8 threads, own names: p50, × plain Lettuce with SET NX",
                1.1,
                results.ratio("uncontended", 8, "p50us", US, "lettuce"));
        pairs("64 threads, own names", "uncontended", 64, 1, 5);
        pairs("async, 1,000 in flight", "async", 1_000, 0.6, 5);
        for (int threads : results.sizes("one-name")) {
            oneName(threads);
        }
        for (int threads : results.sizes("readers")) {
            readers(threads);
        }
        processes();
        crowded();
        permits();
        time();
        return made();
    }

    private void commands() {
        double plain = results.median("counted", 1, US, "commands");
        double nested = results.median("counted", 2, US, "commands");
        double local = results.median("one-name", 64, US, "commands");
        add(
                "commands on the wire: uncontended pair / reentrant pair / local hand-off",
                "2 / 0 / 0",
                String.format(Locale.ROOT, "%.2f / %.2f / %.4f", plain, nested, local),
                known(plain, nested, local),
                Math.abs(plain - 2) < 0.05 && nested < 0.05 && local < 0.01);
        atMost("bytes to the server, uncontended pair", 450, results.median("counted", 1, US, "bytesIn"));
    }

    private void pairs(String question, String id, int size, double ofSetNx, double ofRedisson) {
        atLeast(question + ": pairs/s, × plain Lettuce with SET NX", ofSetNx, ratio(id, size, "lettuce"));
        atLeast(question + ": pairs/s, × Redisson", ofRedisson, ratio(id, size, "redisson"));
        inform(
                question + ": limit: pairs/s of plain Lettuce with SET NX, × Redisson",
                results.ratio(id, size, "rate", "lettuce", "redisson"));
        atMost(
                question + ": server CPU per pair, × the lean pair",
                1.25,
                results.ratio(id, size, "serverCpuUs", US, "lettuce-lean"));
        inform(question + ": server CPU per pair, × SET NX", results.ratio(id, size, "serverCpuUs", US, "lettuce"));
        inform(question + ": server CPU per pair, × Redisson", results.ratio(id, size, "serverCpuUs", US, "redisson"));
        // The next say what the ratios of rates cannot on a machine that others use, too.
        inform(
                question + ": client CPU per pair, × plain Lettuce with SET NX",
                results.ratio(id, size, "clientCpuUs", US, "lettuce"));
        inform(question + ": client CPU per pair, × Redisson", results.ratio(id, size, "clientCpuUs", US, "redisson"));
        inform(
                question + ": the engine alone: pairs/s, × plain Lettuce with the same scripts",
                ratio(id, size, "lettuce-scripts"));
    }

    private void oneName(int threads) {
        String question = "one process, one name, " + threads + " threads: ";
        atLeast(question + "acquisitions/s, × Redisson", 50, ratio("one-name", threads, "redisson"));
        atLeast(question + "acquisitions/s, × the best peer", 20, bestPeer("one-name", threads, "rate"));
        atMost(question + "most / least per thread", 3, spread("one-name", threads, "most", "least"));
        if (threads == 64) {
            atMost(question + "longest wait, ms", 50, results.median("one-name", threads, US, "longestWaitMs"));
        }
    }

    /** A single reader shares with nobody. */
    private void readers(int threads) {
        double ratio = results.ratio("readers", threads, "rate", "holdfast-read", "redisson-read");
        String question = "one process, " + threads + " readers: reads/s, × Redisson";
        if (threads == 1) {
            inform(question, ratio);
        } else {
            atLeast(question, 10, ratio);
        }
    }

    private void processes() {
        for (int jvms : results.sizes("processes-x1")) {
            atMost(
                    jvms + " processes × 1 thread: commands per acquisition",
                    3.2,
                    results.median("processes-x1", jvms, US, "commands"));
        }
        flat("processes × 1 thread: commands per acquisition, most / least over J", "processes-x1", "commands");
        flat("processes × 1 thread: bytes out of the server, most / least over J", "processes-x1", "bytesOut");
        handoff(2, 0.5);
        handoff(8, 0.25);
    }

    private void handoff(int jvms, double goal) {
        String question = "hand-off between processes, J = " + jvms + ": ";
        atMost(question + "p50, × Redisson", goal, results.ratio("processes-x1", jvms, "handoffP50us", US, "redisson"));
        limit(question, jvms, "lettuce-handoff", "Holdfast's own scripts on plain Lettuce");
        limit(question, jvms, "lettuce-queue", "a list and a message on plain Lettuce");
    }

    private void limit(String question, int jvms, String peer, String what) {
        inform(
                question + "limit: p50 of " + what + ", × Redisson",
                results.ratio("processes-x1", jvms, "handoffP50us", peer, "redisson"));
        inform(question + "p50, × " + what, results.ratio("processes-x1", jvms, "handoffP50us", US, peer));
    }

    private void crowded() {
        for (int jvms : results.sizes("processes-x4")) {
            atMost(
                    jvms + " processes × 4 threads: commands per remote hand-off",
                    2.2,
                    results.median("processes-x4", jvms, US, "commandsPerHandoff"));
            atMost(
                    jvms + " processes × 4 threads: commands per acquisition (far below 1)",
                    0.2,
                    results.median("processes-x4", jvms, US, "commands"));
        }
        atLeast("8 processes × 4 threads: acquisitions/s, × Redisson", 5, ratio("processes-x4", 8, "redisson"));
        atLeast("8 processes × 4 threads: acquisitions/s, × the fastest peer", 1, bestPeer("processes-x4", 8, "rate"));
        atMost(
                "8 processes × 4 threads: most / least per process",
                1.5,
                spread("processes-x4", 8, "mostOfProcess", "leastOfProcess"));
    }

    private void permits() {
        for (int jvms : results.sizes("permits")) {
            String question = "5 permits, " + jvms + " processes × 8 threads: ";
            atMost(
                    question + "commands per acquisition",
                    2.2,
                    results.median("permits", jvms, "holdfast-permits", "commands"));
            atMost(
                    question + "longest wait / fair share",
                    3,
                    results.median("permits", jvms, "holdfast-permits", "longestByFair"));
        }
        flat("5 permits: commands per acquisition, most / least over J", "permits", "holdfast-permits", "commands");
        for (int held : results.sizes("permits-held")) {
            atMost(
                    held + " permits held: client CPU, × locks",
                    1.5,
                    results.ratio("permits-held", held, "clientCpuPercent", "holdfast-permits", US));
        }
    }

    private void time() {
        for (int held : results.sizes("held")) {
            atMost(
                    held + " held: commands per renewal period",
                    100,
                    results.median("held", held, US, "commandsPerPeriod"));
            atMost(
                    held + " held: client CPU, × Redisson",
                    1,
                    results.ratio("held", held, "clientCpuPercent", US, "redisson"));
            inform(
                    held + " held: limit: client CPU of plain Lettuce with the same scripts, × Redisson",
                    results.ratio("held", held, "clientCpuPercent", "lettuce-scripts", "redisson"));
            atMost(
                    held + " held: server CPU, × Redisson",
                    1,
                    results.ratio("held", held, "serverCpuPercent", US, "redisson"));
            inform(
                    held + " held: limit: server CPU of plain Lettuce with the same scripts, × Redisson",
                    results.ratio("held", held, "serverCpuPercent", "lettuce-scripts", "redisson"));
            atMost(held + " held: heap per held lock, bytes", 513, results.median("held", held, US, "heapPerLock"));
            atMost(
                    held + " held: server memory per held lock, bytes",
                    200,
                    results.median("held", held, US, "serverBytesPerLock"));
        }
        double extra = results.median("churn", 2_000, US, "extraPerSecond");
        double idle = results.median("churn", 2_000, US, "idleScripts");
        add(
                "churn of 2,000 pairs/s: renewals of released locks a second / when idle",
                "0 / 0",
                String.format(Locale.ROOT, "%.2f / %.0f", extra, idle),
                known(extra, idle),
                extra < 1 && idle == 0);
        atMost(
                "holder killed: next grant after the expiry, median, ms",
                10,
                results.median("killed", 10, US, "lateP50Ms"));
        atMost("cold JVM: time to the first pair, × Redisson", 1, results.ratio("cold", 1, "firstMs", US, "redisson"));
        inform(
                "cold JVM: limit: time to the first pair of plain Lettuce, × Redisson",
                results.ratio("cold", 1, "firstMs", "lettuce", "redisson"));
        atLeast("cold JVM: pairs in the first second, × Redisson", 1, results.ratio("cold", 1, "in1s", US, "redisson"));
        inform(
                "cold JVM: pairs in the first three seconds, × Redisson",
                results.ratio("cold", 1, "in3s", US, "redisson"));
        inform(
                "cold JVM: pairs in the first ten seconds, × Redisson",
                results.ratio("cold", 1, "in10s", US, "redisson"));
        young("lettuce", "plain Lettuce with SET NX");
        young("lettuce-scripts", "plain Lettuce with the same scripts");
        atMost(
                "10,000 virtual threads on 100 names: time, × the best peer",
                0.5,
                best("virtual-threads", 10_000, "seconds", ratio -> 1 / ratio, Double.NaN));
    }

    private void young(String peer, String what) {
        atLeast(
                "young JVM, 64 threads: pairs in the first ten seconds, × " + what,
                0.9,
                results.ratio("young", 64, "in10s", US, peer));
    }

    /** Returns the ratio of Holdfast's figure to the best figure of Redisson and the other real peers. */
    private double bestPeer(String id, int size, String figure) {
        return best(id, size, figure, ratio -> ratio, Double.NaN);
    }

    /** Returns the ratio to the best peer; {@code orientation} makes a larger ratio better for Holdfast. */
    private double best(String id, int size, String figure, DoubleUnaryOperator orientation, double none) {
        double worst = none;
        for (String peer : results.peers(id)) {
            double ratio = results.ratio(id, size, figure, US, peer);
            if (peer.equals(US) || Double.isNaN(ratio)) {
                continue;
            }
            if (Double.isNaN(worst) || orientation.applyAsDouble(ratio) < orientation.applyAsDouble(worst)) {
                worst = ratio;
            }
        }
        return worst;
    }

    private double ratio(String id, int size, String peer) {
        return results.ratio(id, size, "rate", US, peer);
    }

    private double spread(String id, int size, String most, String least) {
        List<Double> ratios = new ArrayList<>();
        List<Double> above = results.values(id, size, US, most);
        List<Double> below = results.values(id, size, US, least);
        for (int i = 0; i < above.size(); i++) {
            ratios.add(above.get(i) / below.get(i));
        }
        return Results.median(ratios);
    }

    private void flat(String question, String id, String figure) {
        flat(question, id, US, figure);
    }

    private void flat(String question, String id, String peer, String figure) {
        TreeSet<Double> medians = new TreeSet<>();
        for (int size : results.sizes(id)) {
            double median = results.median(id, size, peer, figure);
            if (!Double.isNaN(median)) {
                medians.add(median);
            }
        }
        atMost(question, 1.25, medians.isEmpty() ? Double.NaN : medians.last() / medians.first());
    }
}
