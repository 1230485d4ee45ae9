package io.holdfast.verify.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.memory.VirtualTime;
import io.holdfast.testkit.servers.ZooKeeperEnsemble;
import io.holdfast.zookeeper.VerifyZooKeeper;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The simulated ensemble against real ones: the same random commands of three sessions on both, in bursts without
 * waiting, must have the same answers, and the same watches must fire, in the same order. Zxids are compared by their
 * order.
 */
@Tag("deep")
@Timeout(120)
class EnsembleModelTest {

    private static final int SEQUENCES = Integer.getInteger("sequences", 10);
    private static final int SESSIONS = 3;
    private static final int BURSTS = 25;
    private static final Pattern ZXID = Pattern.compile("<(\\d+)>");

    @Test
    void answers_and_watches_are_those_of_a_real_ensemble() throws Exception {
        try (ZooKeeperEnsemble servers = ZooKeeperEnsemble.start(1, "-Dznode.container.checkIntervalMs=600000")) {
            int told = 0;
            for (int seed = 1; seed <= SEQUENCES; seed++) {
                String root = "/model" + seed;
                List<String> real = new Script(new Real(servers.servers()), root, seed, 0).play();
                List<String> model = new Script(new Model(seed), root, seed, 0).play();
                assertThat(model).as("sequence %d", seed).isEqualTo(real);
                told += (int)
                        real.stream().filter(line -> line.contains(" hears ")).count();
            }
            // Sequences in which no watch fires would prove little.
            assertThat(told).isGreaterThan(2 * SEQUENCES);
        }
    }

    /** One command at a time: in a burst, the real number depends on the commands that are under way. */
    @Test
    void numbers_end_as_those_of_a_real_server(@TempDir Path dir) throws Exception {
        try (LocalServer server = new LocalServer(dir)) {
            Real one = new Real(server.address()) {
                @Override
                void setMade(String folder, int made) {
                    server.setMade(folder, made);
                }
            };
            List<String> all = new ArrayList<>();
            for (int seed = 1; seed <= SEQUENCES; seed++) {
                String root = "/model" + seed;
                int made = Integer.MAX_VALUE - 3;
                List<String> real = new Script(one, root, seed, made).play();
                assertThat(new Script(new Model(seed), root, seed, made).play())
                        .as("sequence %d", seed)
                        .isEqualTo(real);
                all.addAll(real);
            }
            assertThat(all).anyMatch(line -> line.matches(".*create .*2147483646 .*"));
            assertThat(all.stream().filter(line -> line.matches(".*create .*~2147483647 .*")))
                    .hasSizeGreaterThan(2);
        }
    }

    /** An ensemble, or its model. */
    private abstract static class Side {
        final AtomicInteger unanswered = new AtomicInteger();

        abstract VerifyZooKeeper.Commands open() throws Exception;

        abstract void close(VerifyZooKeeper.Commands handle) throws Exception;

        /** Until all is answered. */
        abstract void settle() throws Exception;

        abstract void setMade(String folder, int made);
    }

    private static final class RealSession extends VerifyZooKeeper.ForwardedCommands {
        private final ZooKeeper session;

        RealSession(ZooKeeper session) {
            super(session);
            this.session = session;
        }
    }

    private static class Real extends Side {
        private final String servers;

        Real(String servers) {
            this.servers = servers;
        }

        @Override
        void setMade(String folder, int made) {
            throw new IllegalStateException("only in this process");
        }

        @Override
        VerifyZooKeeper.Commands open() throws Exception {
            CountDownLatch connected = new CountDownLatch(1);
            ZooKeeper handle = new ZooKeeper(servers, 30_000, event -> connected.countDown());
            assertThat(connected.await(20, TimeUnit.SECONDS)).isTrue();
            return new RealSession(handle);
        }

        @Override
        void close(VerifyZooKeeper.Commands handle) throws Exception {
            ((RealSession) handle).session.close();
        }

        @Override
        void settle() throws Exception {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            while (unanswered.get() > 0) {
                assertThat(System.nanoTime()).as("no answer").isLessThan(end);
                Thread.sleep(0, 200_000);
            }
        }
    }

    private static final class Model extends Side {
        private final VirtualTime time = new VirtualTime();
        private final SimEnsemble ensemble;

        Model(int seed) {
            ensemble = new SimEnsemble(
                    time,
                    new SplittableRandom(seed),
                    new SimEnsemble.Shape(3, 200, 4_000, 1_000_000, 500_000, 0, 0, 600_000_000_000L));
        }

        @Override
        VerifyZooKeeper.Commands open() throws Exception {
            SimClient client = ensemble.connect("model", time, Runnable::run, 5_000, EnsembleBug.NONE);
            while (!client.isOpen()) {
                time.runNext();
            }
            return client.handle();
        }

        @Override
        void close(VerifyZooKeeper.Commands handle) {
            ((SimHandle) handle).close();
            time.advance(Duration.ofMillis(100));
        }

        @Override
        void settle() {
            while (unanswered.get() > 0) {
                time.runNext();
            }
            // The other servers of the model hear of it, too.
            time.advance(Duration.ofMillis(20));
        }

        @Override
        void setMade(String folder, int made) {
            ensemble.setMade(folder, made);
        }
    }

    /** Random commands, the same for the same seed and answers. */
    private static final class Script {
        private final Side side;
        private final String root;
        private final SplittableRandom random;
        private final int made;
        private final List<VerifyZooKeeper.Commands> sessions = new ArrayList<>();
        private final List<List<String>> said = new ArrayList<>();
        private final TreeSet<String> known = new TreeSet<>();
        private int number;

        /** Of the known ones when a burst begins: answers in between may come sooner on one side. */
        private List<String> there = List.of();

        /** @param made how many children a folder had before; zero for bursts in new folders */
        Script(Side side, String root, int seed, int made) {
            this.side = side;
            this.root = root;
            this.made = made;
            this.random = new SplittableRandom(seed);
        }

        List<String> play() throws Exception {
            List<String> all = new ArrayList<>();
            for (int i = 0; i < SESSIONS; i++) {
                sessions.add(side.open());
                said.add(new ArrayList<>());
            }
            create(0, root, CreateMode.CONTAINER);
            side.settle();
            if (made > 0) {
                create(0, root + "/a", CreateMode.CONTAINER);
                side.settle();
                side.setMade(root + "/a", made);
            }
            for (int burst = 0; burst < BURSTS; burst++) {
                int who = random.nextInt(SESSIONS);
                boolean ends = random.nextInt(12) == 0;
                remember();
                if (ends) {
                    VerifyZooKeeper.Commands closing = sessions.get(who);
                    // What a session hears of its own end depends on the moment.
                    sessions.set(who, side.open());
                    side.close(closing);
                } else {
                    for (int i = made > 0 ? 0 : random.nextInt(4); i >= 0; i--) {
                        any(who);
                    }
                }
                side.settle();
                // Events of the burst come before the answer to this.
                for (int i = 0; i < SESSIONS; i++) {
                    children(i, root, false);
                }
                side.settle();
                for (int i = 0; i < SESSIONS; i++) {
                    collect(i, ends, all);
                }
            }
            for (VerifyZooKeeper.Commands session : sessions) {
                side.close(session);
            }
            return ranked(all);
        }

        /** The nodes of a session that ends are removed in no certain order. */
        private synchronized void collect(int who, boolean sorted, List<String> all) {
            if (sorted) {
                said.get(who).sort(null);
            }
            for (String line : said.get(who)) {
                all.add(who + " " + line);
            }
            said.get(who).clear();
        }

        private synchronized void say(int who, String line) {
            said.get(who).add(line);
        }

        private void any(int who) {
            String folder = root + "/" + (random.nextInt(3) == 0 ? "b" : "a");
            String node = someNode(folder);
            switch (random.nextInt(12)) {
                case 0 -> create(who, folder, CreateMode.CONTAINER);
                case 1, 2, 3 -> create(who, folder + "/x" + number++ + "~", CreateMode.EPHEMERAL_SEQUENTIAL);
                case 4 -> delete(who, node);
                case 5 -> delete(who, random.nextInt(3) == 0 ? folder : node);
                case 6 -> write(who, node);
                case 7 -> read(who, random.nextInt(4) == 0 ? folder : node, random.nextBoolean());
                case 8 -> children(who, folder, true);
                case 9 -> children(who, node, true);
                case 10 -> replace(who, node, folder + "/y" + number++ + "~");
                default -> probe(who, folder + "/probe");
            }
        }

        private synchronized void remember() {
            there = List.copyOf(known);
        }

        /** Mostly one that is there. */
        private String someNode(String folder) {
            List<String> nodes =
                    there.stream().filter(path -> path.startsWith(folder + "/")).toList();
            return nodes.isEmpty() || random.nextInt(6) == 0
                    ? folder + "/none"
                    : nodes.get(random.nextInt(nodes.size()));
        }

        private synchronized void learn(String path) {
            known.add(path);
        }

        private synchronized void unlearn(String path) {
            known.remove(path);
        }

        private void create(int who, String path, CreateMode mode) {
            side.unanswered.incrementAndGet();
            sessions.get(who).create(path, bytes("new"), mode, (code, asked, context, name, stat) -> {
                if (name != null && mode.isSequential()) {
                    learn(name);
                }
                answered(who, "create " + path + ": " + Code.get(code) + " " + name + " " + stat(stat));
            });
        }

        private void delete(int who, String path) {
            side.unanswered.incrementAndGet();
            sessions.get(who).delete(path, (code, asked, context) -> {
                unlearn(path);
                answered(who, "delete " + path + ": " + Code.get(code));
            });
        }

        private void write(int who, String path) {
            side.unanswered.incrementAndGet();
            sessions.get(who)
                    .write(
                            path,
                            bytes("v" + number++),
                            (code, asked, context, stat) ->
                                    answered(who, "write " + path + ": " + Code.get(code) + " " + stat(stat)));
        }

        private void read(int who, String path, boolean watch) {
            side.unanswered.incrementAndGet();
            sessions.get(who)
                    .read(
                            path,
                            watch ? watcher(who) : null,
                            (code, asked, context, data, stat) -> answered(
                                    who,
                                    "read " + path + ": " + Code.get(code) + " "
                                            + (data == null ? "" : new String(data, StandardCharsets.US_ASCII)) + " "
                                            + stat(stat)));
        }

        private void children(int who, String path, boolean watch) {
            side.unanswered.incrementAndGet();
            sessions.get(who)
                    .children(
                            path,
                            watch ? watcher(who) : null,
                            (code, asked, context, nodes) -> answered(
                                    who,
                                    "children " + path + ": " + Code.get(code) + " "
                                            + (nodes == null ? "" : new TreeSet<>(nodes))));
        }

        private Watcher watcher(int who) {
            VerifyZooKeeper.Commands asking = sessions.get(who);
            return event -> {
                if (event.getType() != EventType.None && asking.equals(sessions.get(who))) {
                    say(who, "hears " + event.getType() + " " + event.getPath());
                }
            };
        }

        private void replace(int who, String old, String path) {
            List<Op> steps = List.of(
                    Op.delete(old, -1),
                    Op.create(path, bytes("new"), sessions.get(who).access(), CreateMode.EPHEMERAL_SEQUENTIAL));
            together(who, "replace " + old + " by " + path, steps, old);
        }

        private void probe(int who, String path) {
            List<Op> steps = List.of(
                    Op.create(path, bytes(""), sessions.get(who).access(), CreateMode.EPHEMERAL), Op.delete(path, -1));
            together(who, "probe " + path, steps, path);
        }

        private void together(int who, String what, List<Op> steps, String deleted) {
            side.unanswered.incrementAndGet();
            sessions.get(who).together(steps, (code, asked, context, results) -> {
                StringBuilder made = new StringBuilder();
                if (code == Code.OK.intValue() && results != null) {
                    unlearn(deleted);
                    for (OpResult result : results) {
                        if (result instanceof OpResult.CreateResult create) {
                            made.append(' ').append(create.getPath());
                            if (!create.getPath().endsWith("probe")) {
                                learn(create.getPath());
                            }
                        }
                    }
                }
                answered(who, what + ": " + Code.get(code) + made);
            });
        }

        private void answered(int who, String line) {
            say(who, line);
            side.unanswered.decrementAndGet();
        }

        private static String stat(Stat stat) {
            return stat == null
                    ? ""
                    : "made <" + stat.getCzxid() + "> written <" + stat.getMzxid() + "> children <" + stat.getPzxid()
                            + "> version " + stat.getVersion() + " changes " + stat.getCversion() + " of "
                            + stat.getNumChildren() + (stat.getEphemeralOwner() != 0 ? " ephemeral" : "");
        }

        private static byte[] bytes(String text) {
            return text.getBytes(StandardCharsets.US_ASCII);
        }

        /** With the order of zxids instead of the zxids. */
        private static List<String> ranked(List<String> lines) {
            TreeSet<Long> zxids = new TreeSet<>();
            lines.forEach(line -> ZXID.matcher(line).results().forEach(found -> zxids.add(zxid(found))));
            List<Long> order = List.copyOf(zxids);
            return lines.stream()
                    .map(line -> ZXID.matcher(line).replaceAll(found -> "<" + order.indexOf(zxid(found)) + ">"))
                    .toList();
        }

        private static long zxid(MatchResult found) {
            return Long.parseLong(found.group(1));
        }
    }
}
