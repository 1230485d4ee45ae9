package io.holdfast.cli.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * A process and what it has started. Thread-safe.
 *
 * <p>A stopped command must not leave its work running: a shell that is ended lets go of the program it was waiting
 * for.
 */
public final class ProcessTree {

    private final ProcessHandle root;
    private final Set<ProcessHandle> known = new LinkedHashSet<>(); // guarded by this

    public ProcessTree(ProcessHandle root) {
        this.root = root;
        known.add(root);
    }

    /** Takes down who belongs to it now. */
    public void look() {
        alive();
    }

    /**
     * Sends the signal to all. The root first: a shell that sees its program die before it gets the signal itself goes
     * on to the next one.
     */
    public void signal(String name) throws IOException, InterruptedException {
        List<Long> pids = new ArrayList<>();
        for (ProcessHandle process : alive()) {
            pids.add(process.pid());
        }
        if (!pids.isEmpty()) {
            Kill.send(name, pids);
        }
    }

    /** SIGKILL to all. */
    public void kill() {
        alive().forEach(ProcessHandle::destroyForcibly);
    }

    /** Waits for the end of all. False if something of it is still there after this time. */
    public boolean awaitEnd(Duration atMost) throws InterruptedException {
        long end = System.nanoTime() + atMost.toNanos();
        while (!alive().isEmpty()) {
            if (System.nanoTime() - end >= 0) {
                return false;
            }
            Thread.sleep(20);
        }
        return true;
    }

    /** Those that live, also what came since the last time, also what has lost its parent since then. */
    private synchronized List<ProcessHandle> alive() {
        for (ProcessHandle process : List.copyOf(known)) {
            process.descendants().forEach(known::add);
        }
        known.removeIf(process -> !process.equals(root) && isGone(process));
        return known.stream().filter(process -> !isGone(process)).toList();
    }

    /** Dead, also where nobody collects the dead: in a container whose first process does not. */
    private static boolean isGone(ProcessHandle process) {
        if (!process.isAlive()) {
            return true;
        }
        try {
            String stat = Files.readString(Path.of("/proc/" + process.pid() + "/stat"), StandardCharsets.ISO_8859_1);
            return stat.startsWith("Z", stat.lastIndexOf(')') + 2);
        } catch (IOException e) {
            return !process.isAlive();
        }
    }
}
