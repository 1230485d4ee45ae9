package io.holdfast.testkit.torture;

import io.holdfast.history.Event;
import io.holdfast.history.Event.Kind;
import io.holdfast.testkit.servers.ChildJvm;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/** The worker processes of a torture, and their faults. */
final class WorkerProcesses implements AutoCloseable {

    /** Longer than a wait and a use, even when the store does not answer. */
    private static final long END_SECONDS = 40;

    private record Worker(String name, Process process) {}

    private final Class<?> main;
    private final TortureWorker.Setup setup;
    private final Path folder;
    private final Recorder recorder;
    private final List<Worker> workers = new ArrayList<>();
    private int started;

    WorkerProcesses(Class<?> main, TortureWorker.Setup setup, Path folder, Recorder recorder) {
        this.main = main;
        this.setup = setup;
        this.folder = folder;
        this.recorder = recorder;
    }

    /** Starts one more worker, with this process's Java and class path. */
    void start() throws IOException {
        String name = "w" + started++;
        Process process = ChildJvm.command("-Xmx128m", main.getName())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(folder.resolve(name + ".log").toFile())
                .start();
        var in = process.getOutputStream();
        in.write((new TortureWorker.Setup(
                                        setup.uri(),
                                        setup.lease(),
                                        name,
                                        setup.port(),
                                        folder.resolve(name + ".history").toString(),
                                        setup.prefix(),
                                        setup.threads(),
                                        setup.shares())
                                .line()
                        + "\n")
                .getBytes(StandardCharsets.UTF_8));
        in.flush();
        workers.add(new Worker(name, process));
    }

    List<TortureFault> faults() {
        return List.of(TortureFault.of("process paused", this::pause), TortureFault.of("process killed", this::kill));
    }

    /**
     * Lets all workers finish their operations. A worker that does not is a violation: its operations have no outcome.
     *
     * @throws IOException if a worker has ended before: the operations that it did not do prove nothing
     */
    void end() throws IOException, InterruptedException {
        for (Worker worker : workers) {
            if (!worker.process().isAlive()) {
                throw new IOException("the worker " + worker.name() + " has ended by itself; see its log in " + folder);
            }
            worker.process().getOutputStream().close();
        }
        for (Worker worker : workers) {
            worker.process().waitFor(END_SECONDS, TimeUnit.SECONDS);
        }
    }

    @Override
    public void close() {
        workers.forEach(worker -> worker.process().destroyForcibly());
    }

    private Worker any(Random random) {
        return workers.get(random.nextInt(workers.size()));
    }

    /** Stops a process, as a long garbage collection or a suspended machine does. */
    private void pause(Random random) throws IOException, InterruptedException {
        Worker worker = any(random);
        long began = System.nanoTime();
        ChildJvm.signal("STOP", worker.process().pid());
        Thread.sleep(random.nextInt(2 * (int) setup.lease().toMillis()));
        ChildJvm.signal("CONT", worker.process().pid());
        recorder.record(Event.of(began, Kind.PAUSED, worker.name(), "nanos", System.nanoTime() - began));
    }

    /** Kills a process and starts another one. */
    private void kill(Random random) throws IOException, InterruptedException {
        Worker worker = any(random);
        recorder.record(Event.of(System.nanoTime(), Kind.DIED, worker.name()));
        worker.process().destroyForcibly().waitFor();
        workers.remove(worker);
        start();
    }
}
