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
 * A process and the processes that it has started. Thread-safe.
 *
 * <p>A stopped command must not leave its work running: when a shell is ended, the program that it was waiting for
 * continues.
 */
public final class ProcessTree {

    private final ProcessHandle root;
    private final Set<ProcessHandle> known = new LinkedHashSet<>(); // guarded by this

    public ProcessTree(ProcessHandle root) {
        this.root = root;
        known.add(root);
    }

    /** Notes the processes that belong to the tree now. */
    public void look() {
        alive();
    }

    /**
     * Sends the signal to all, to the root first: a shell that sees its program die before it gets the signal itself
     * starts the next one.
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

    /** Sends SIGKILL to all. */
    public void kill() {
        alive().forEach(ProcessHandle::destroyForcibly);
    }

    /** Waits for the end of all processes. Returns false if one still runs after this time. */
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

    /** Returns the living processes, including new ones and those that have lost their parent since the last call. */
    private synchronized List<ProcessHandle> alive() {
        for (ProcessHandle process : List.copyOf(known)) {
            process.descendants().forEach(known::add);
        }
        known.removeIf(process -> !process.equals(root) && isGone(process));
        return known.stream().filter(process -> !isGone(process)).toList();
    }

    /** Returns whether the process is dead, even one that nobody collects (a container's first process may not). */
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
