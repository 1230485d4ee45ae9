package io.holdfast.bench.harness;

import io.holdfast.bench.agent.Clock;
import io.holdfast.bench.agent.Message;
import io.holdfast.bench.peer.Peer;
import io.holdfast.testkit.servers.RedisServer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/** The tools of a case: the server, its meter, and the children of the running case. Used by one thread. */
final class Bench {

    static final Duration LEASE = Duration.ofSeconds(30);
    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final int ATTEMPTS = 4;

    /** The part of a window by which a reading may be late. */
    private static final int LATE_PART = 8;

    /** The number of processes whose code is compiled in the first warm-up; more processes have more time. */
    private static final int WARMED = 4;

    private final RedisServer server;
    private final Processors processors;
    private final ServerMeter meter;
    private final Agents agents;
    private final Profile profile;
    private final Path scratch;
    private final Set<String> warm = new HashSet<>();
    private int names;

    Bench(RedisServer server, Processors processors, ServerMeter meter, Agents agents, Profile profile, Path scratch) {
        this.server = server;
        this.processors = processors;
        this.meter = meter;
        this.agents = agents;
        this.profile = profile;
        this.scratch = scratch;
    }

    Profile profile() {
        return profile;
    }

    ServerMeter meter() {
        return meter;
    }

    /** Returns an unused lock name, of the same length each time. */
    String freshName() {
        return "bench:" + (100_000 + names++);
    }

    /** Returns files in which so many processes write when they hold a name. */
    List<Path> journals(int processes) {
        return IntStream.range(0, processes)
                .mapToObj(i -> scratch.resolve("journal-" + i))
                .toList();
    }

    List<AgentProcess> open(String peer, int count, Duration lease) throws IOException, InterruptedException {
        return agents.open(peer, count, server.uri(), lease);
    }

    /** Starts another server like the one of this run, for a case whose peers need one each. The caller closes it. */
    RedisServer startServer() throws IOException, InterruptedException {
        RedisServer started =
                RedisServer.builder().installation(server.installation()).start();
        processors.place(started);
        return started;
    }

    /** Opens a child with a client of another server. */
    AgentProcess open(String peer, RedisServer other, Duration lease) throws IOException, InterruptedException {
        return agents.open(peer, 1, other.uri(), lease).get(0);
    }

    void close(List<AgentProcess> used) throws InterruptedException {
        agents.close(used);
        if (used.size() > Agents.KEPT) {
            warm.removeIf(key -> key.endsWith("/" + used.size()));
        }
    }

    /** Ends the children of a peer after one of them was killed or has failed. */
    void forget(String peer) {
        agents.kill(peer);
        warm.removeIf(key -> key.startsWith(peer + "/"));
    }

    /** Returns one answer of each child. */
    List<Message> await(List<AgentProcess> used) throws InterruptedException {
        List<Message> answers = new ArrayList<>();
        for (AgentProcess agent : used) {
            answers.add(agent.await(PATIENCE));
        }
        return answers;
    }

    /** Makes the orders for one attempt, one for each child. */
    @FunctionalInterface
    interface Work {
        List<Message> orders() throws IOException;
    }

    /**
     * The result of a window: one answer of each child, and the server's load in the window.
     *
     * @param lateNanos the delay of the latest reading at the window's borders
     */
    record Observed(List<Message> answers, ServerMeter.Load load, Map<String, Double> figures, long lateNanos) {}

    /**
     * Lets the children do the same work in one window after a warm-up, and meters the server in the window. Measures
     * again, a few times, if a clock or counter was read too late at the window's borders.
     *
     * @throws IllegalStateException if all readings were too late: the machine is too busy
     */
    Observed window(String peer, List<AgentProcess> used, Work work) throws IOException, InterruptedException {
        long tolerated = profile.window().toNanos() / LATE_PART;
        for (int attempt = 1; ; attempt++) {
            Observed observed = once(peer, used, work.orders());
            if (observed.lateNanos() <= tolerated) {
                return observed;
            }
            if (attempt == ATTEMPTS) {
                throw new IllegalStateException("the machine is too busy: figures were read "
                        + observed.lateNanos() / 1_000_000 + " ms late, in " + ATTEMPTS + " attempts");
            }
        }
    }

    private Observed once(String peer, List<AgentProcess> used, List<Message> orders)
            throws IOException, InterruptedException {
        Duration warmUp = profile.warmUp();
        if (warm.add(peer + "/" + used.size())) {
            Duration first = profile.firstWarmUp().multipliedBy(Math.max(1, used.size() / WARMED));
            if (used.size() > 2) {
                warmUpInPairs(used, orders, first);
            } else {
                warmUp = first;
            }
        }
        long from = System.nanoTime() + warmUp.toNanos();
        long to = from + profile.window().toNanos();
        send(used, orders, from, to);
        Clock.sleepUntil(from);
        meter.start();
        long late = System.nanoTime() - from;
        Clock.sleepUntil(to);
        ServerMeter.Load load = meter.stop();
        late = Math.max(late, System.nanoTime() - to);
        List<Message> answers = await(used);
        late = Math.max(late, (long) max(answers, "lateNs"));
        return new Observed(answers, load, common(peer, answers, load, profile.window()), late);
    }

    /**
     * Lets each two of the children do the work on a name of their own. Many children with one name would enter so
     * rarely that their code would still be compiled in the window, which costs more than the measured work.
     */
    private void warmUpInPairs(List<AgentProcess> used, List<Message> orders, Duration time)
            throws InterruptedException {
        List<Message> apart = new ArrayList<>();
        String name = "";
        for (int i = 0; i < used.size(); i++) {
            name = i % 2 == 0 ? freshName() : name;
            apart.add(orders.get(i).with("name", name).with("journal", ""));
        }
        long from = System.nanoTime();
        send(used, apart, from, from + time.toNanos());
        await(used);
    }

    private static void send(List<AgentProcess> used, List<Message> orders, long from, long to) {
        for (int i = 0; i < used.size(); i++) {
            used.get(i).send(orders.get(i).with("from", from).with("to", to));
        }
    }

    /** Returns the figures that every window has. */
    private static Map<String, Double> common(
            String peer, List<Message> answers, ServerMeter.Load load, Duration window) {
        double acquisitions = sum(answers, "acquisitions");
        Map<String, Double> figures = new LinkedHashMap<>();
        figures.put("rate", acquisitions / (window.toNanos() / 1e9));
        figures.put("commands", Peer.of(peer).onTheWire(load.commands()) / acquisitions);
        figures.put("bytesIn", load.bytesIn() / acquisitions);
        figures.put("bytesOut", load.bytesOut() / acquisitions);
        figures.put("clientCpuUs", sum(answers, "cpuNs") / 1e3 / acquisitions);
        figures.put("serverCpuUs", load.cpuMicros() / acquisitions);
        figures.put("violations", sum(answers, "violations"));
        return figures;
    }

    static double sum(List<Message> answers, String figure) {
        return answers.stream()
                .mapToDouble(answer -> Double.parseDouble(answer.fields().getOrDefault(figure, "0")))
                .sum();
    }

    static double max(List<Message> answers, String figure) {
        return answers.stream()
                .mapToDouble(answer -> Double.parseDouble(answer.text(figure)))
                .max()
                .orElse(Double.NaN);
    }

    static double min(List<Message> answers, String figure) {
        return answers.stream()
                .mapToDouble(answer -> Double.parseDouble(answer.text(figure)))
                .min()
                .orElse(Double.NaN);
    }
}
