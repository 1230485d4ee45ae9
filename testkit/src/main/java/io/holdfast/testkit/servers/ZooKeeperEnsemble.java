package io.holdfast.testkit.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * An ensemble of ZooKeeper servers on free ports of 127.0.0.1, each in a process of its own.
 *
 * <pre>{@code
 * try (ZooKeeperEnsemble servers = ZooKeeperEnsemble.start(3);
 *         LockClient locks = LockClient.connect(servers.uri())) {
 *     servers.kill(servers.leader().orElseThrow());
 *     await().atMost(ofSeconds(30)).until(() -> servers.leader().isPresent());
 *     locks.run("order:42", lease -> orders.refund(42));      // on the other two servers
 * }
 * }</pre>
 *
 * <p>The testkit does not depend on ZooKeeper: the servers run from this process's class path, which must have {@code
 * org.apache.zookeeper:zookeeper} and the libraries that its server needs ({@code io.dropwizard.metrics:metrics-core}
 * and {@code org.xerial.snappy:snappy-java}). The servers end with this JVM, however the JVM ends. A tick is 200 ms, so
 * the shortest session is 400 ms. The servers do not force writes to the disk. Thread-safe.
 */
public final class ZooKeeperEnsemble implements AutoCloseable {

    /** The tick of the servers, in milliseconds. */
    public static final int TICK_MILLIS = 200;

    private static final Duration START_AT_MOST = Duration.ofSeconds(60);

    /** Only a paused server takes so long; one that has ended refuses the connection. */
    private static final int ANSWER_MILLIS = 10_000;

    private static final String MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain";

    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

    private final ReentrantLock lock = new ReentrantLock();
    private final List<Member> members; // each by lock
    private final List<String> options;

    private static final class Member {
        final Path dir;
        final int port;
        ServerProcess process;

        Member(Path dir, int port, ServerProcess process) {
            this.dir = dir;
            this.port = port;
            this.process = process;
        }
    }

    private ZooKeeperEnsemble(List<Member> members, List<String> options) {
        this.members = members;
        this.options = options;
    }

    /**
     * Starts servers, and returns when they serve clients.
     *
     * @param servers the number of servers; three servers continue when one fails
     * @param options options of Java for the servers, for example {@code -Dznode.container.checkIntervalMs=500}
     * @throws IllegalStateException if they do not come up; the message has the end of a server's log
     */
    public static ZooKeeperEnsemble start(int servers, String... options) {
        try {
            Class.forName(MAIN, false, ZooKeeperEnsemble.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(
                    "There is no ZooKeeper on the class path (add org.apache.zookeeper:zookeeper,"
                            + " io.dropwizard.metrics:metrics-core and org.xerial.snappy:snappy-java)",
                    e);
        }
        ZooKeeperEnsemble ensemble = new ZooKeeperEnsemble(new ArrayList<>(), List.of(options));
        try {
            ensemble.startAll(servers);
            ensemble.awaitServing();
            return ensemble;
        } catch (IOException e) {
            ensemble.close();
            throw new UncheckedIOException(e);
        } catch (RuntimeException e) {
            ensemble.close();
            throw e;
        }
    }

    private void startAll(int servers) throws IOException {
        List<Integer> ports = new ArrayList<>();
        while (ports.size() < 3 * servers) {
            int port = FreePort.next();
            if (!ports.contains(port)) {
                ports.add(port);
            }
        }
        for (int i = 0; i < servers; i++) {
            Path dir = Files.createTempDirectory("holdfast-zookeeper");
            Files.writeString(dir.resolve("myid"), Integer.toString(i + 1));
            StringBuilder config = new StringBuilder()
                    .append("dataDir=" + dir + "\nclientPort=" + ports.get(i) + "\nclientPortAddress=127.0.0.1\n")
                    .append("tickTime=" + TICK_MILLIS + "\ninitLimit=50\nsyncLimit=10\nmaxClientCnxns=0\n")
                    .append("maxSessionTimeout=600000\nadmin.enableServer=false\n4lw.commands.whitelist=*\n");
            for (int j = 0; servers > 1 && j < servers; j++) {
                String peer = ports.get(servers + 2 * j) + ":" + ports.get(servers + 2 * j + 1);
                config.append("server." + (j + 1) + "=127.0.0.1:" + peer + "\n");
            }
            Files.writeString(dir.resolve("zoo.cfg"), config);
            members.add(new Member(dir, ports.get(i), launch(dir)));
        }
    }

    private ServerProcess launch(Path dir) throws IOException {
        List<String> command = ChildJvm.command(
                        "-Xmx64m",
                        "-Xss512k",
                        "-Dzookeeper.forceSync=no",
                        "-Dzookeeper.preAllocSize=256",
                        "-Dzookeeper.jmx.log4j.disable=true",
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn")
                .command();
        command.addAll(options);
        command.addAll(List.of(MAIN, dir.resolve("zoo.cfg").toString()));
        return ServerProcess.start(command, dir.resolve("log"), dir);
    }

    /** Returns the number of servers, running or not. */
    public int size() {
        return members.size();
    }

    /** Returns the store URI of all servers: {@code zookeeper://127.0.0.1:PORT,…}. */
    public String uri() {
        return "zookeeper://" + servers();
    }

    /** Returns the connect string of ZooKeeper: {@code 127.0.0.1:PORT,…}. */
    public String servers() {
        return members.stream().map(member -> "127.0.0.1:" + member.port).collect(Collectors.joining(","));
    }

    /** Returns the port of one server for clients. */
    public int port(int server) {
        return members.get(server).port;
    }

    /** Returns the server that leads now, or the only server; empty if no server leads. */
    public OptionalInt leader() {
        for (int i = 0; i < members.size(); i++) {
            if (isLeading(ask(i, "srvr"))) {
                return OptionalInt.of(i);
            }
        }
        return OptionalInt.empty();
    }

    /** Ends a server by SIGKILL. Its data remain. */
    public void kill(int server) {
        withProcess(server, ServerProcess::kill);
    }

    /** Restarts a server that was killed. It joins the others some time later. */
    public void restart(int server) {
        lock.lock();
        try {
            Member member = members.get(server);
            member.process.leave();
            member.process = launch(member.dir);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            lock.unlock();
        }
    }

    /** Stops a server's process by SIGSTOP: its connections stay, and it answers nothing. */
    public void pause(int server) {
        withProcess(server, process -> process.signal("STOP"));
    }

    /** Continues a paused server. */
    public void resume(int server) {
        withProcess(server, process -> process.signal("CONT"));
    }

    /**
     * Returns one of a server's counters ({@code mntr}), for example {@code zk_packets_received}.
     *
     * @throws IllegalStateException if the server does not answer, or has no such counter
     */
    public long count(int server, String counter) {
        for (String line : ask(server, "mntr").split("\n", -1)) {
            String[] words = line.split("\\s+", 3);
            if (words.length >= 2 && words[0].equals(counter)) {
                return Long.parseLong(words[1]);
            }
        }
        throw new IllegalStateException("ZooKeeper server " + server + " does not say its " + counter);
    }

    /**
     * Returns when all servers serve clients.
     *
     * @throws IllegalStateException if one of them has ended
     */
    public void awaitServing() {
        long end = System.nanoTime() + START_AT_MOST.toNanos();
        for (int i = 0; i < members.size(); i++) {
            Member member = members.get(i);
            while (isRunning(member) && !ask(i, "srvr").contains("Mode:")) {
                if (System.nanoTime() - end >= 0) {
                    throw new IllegalStateException("ZooKeeper server " + i + " does not serve: "
                            + ServerProcess.lastLines(member.dir.resolve("log")));
                }
                pauseBriefly();
            }
            if (!isRunning(member) && Files.exists(member.dir.resolve("log"))) {
                throw new IllegalStateException(
                        "ZooKeeper server " + i + " has ended: " + ServerProcess.lastLines(member.dir.resolve("log")));
            }
        }
    }

    /** Ends all servers and removes their data. */
    @Override
    public void close() {
        lock.lock();
        try {
            members.forEach(member -> member.process.close());
        } finally {
            lock.unlock();
        }
    }

    private boolean isRunning(Member member) {
        lock.lock();
        try {
            return member.process.isRunning();
        } finally {
            lock.unlock();
        }
    }

    private void withProcess(int server, Consumer<ServerProcess> action) {
        lock.lock();
        try {
            action.accept(members.get(server).process);
        } finally {
            lock.unlock();
        }
    }

    private static boolean isLeading(String said) {
        return said.contains("Mode: leader") || said.contains("Mode: standalone");
    }

    /** Sends one of ZooKeeper's four letter words. Returns an empty text if there is no answer. */
    private String ask(int server, String word) {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(LOOPBACK, members.get(server).port), ANSWER_MILLIS);
            socket.setSoTimeout(ANSWER_MILLIS);
            socket.getOutputStream().write(word.getBytes(StandardCharsets.US_ASCII));
            socket.getOutputStream().flush();
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            return "";
        }
    }

    private static void pauseBriefly() {
        try {
            Thread.sleep(30);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while ZooKeeper starts", e);
        }
    }
}
