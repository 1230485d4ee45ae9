package io.holdfast.samples.folder;

import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;

import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.DaemonThreads;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreListener;
import io.holdfast.spi.StoreState;
import io.holdfast.spi.TimeSource;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Locks between the processes of one machine, in a folder of a local disk. Each name has a file, which says who holds
 * the name and until when. Each command reads the file, decides, and replaces the file, all under a lock of the
 * operating system on the folder: so no other command comes in between.
 *
 * <p>The store's time is the machine's wall clock. It has no queue and sends no messages, so waiters ask again every
 * second, and when the hold runs out. A file stays when its name is free; it has the name's last base.
 */
final class FolderLockStore implements LockStore {

    /** The operating system's lock is between processes: threads of this one exclude each other by this lock. */
    private static final ReentrantLock THIS_PROCESS = new ReentrantLock();

    private static final long PATIENCE_NANOS = 2_000_000_000;

    private final Path folder;
    private final TimeSource time;

    /** Waits for the disk and for other processes in the place of the callers, who must not wait. */
    private final ExecutorService worker = Executors.newSingleThreadExecutor(DaemonThreads.factory("folder-locks"));

    FolderLockStore(Path folder, StoreContext context) {
        this.folder = folder;
        this.time = context.time();
    }

    @Override
    public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
        return execute(request.name(), name -> name.acquire(request));
    }

    @Override
    public CompletionStage<RenewReply> renew(RenewRequest request) {
        return execute(request.name(), name -> name.renew(request));
    }

    @Override
    public CompletionStage<ReleaseReply> release(ReleaseRequest request) {
        AcquireRequest again = request.requeue();
        return execute(request.name(), name -> {
            boolean held = name.release(request.holderId());
            return held && again != null ? ReleaseReply.requeued(name.acquire(again)) : ReleaseReply.of(held);
        });
    }

    @Override
    public CompletionStage<Boolean> abandon(String name, String holderId) {
        return execute(name, state -> state.release(holderId));
    }

    @Override
    public CompletionStage<StoreState> inspect(String name) {
        return execute(name, FolderName::inspect);
    }

    @Override
    public CompletionStage<ForceReply> forceRelease(String name, @Nullable String holder) {
        return execute(name, state -> state.forceRelease(holder));
    }

    @Override
    public void listen(StoreListener listener) {} // sends no messages

    @Override
    public String describe() {
        return "folder:" + folder;
    }

    @Override
    public void close() {
        worker.shutdown();
    }

    private <R> CompletionStage<R> execute(String name, Function<FolderName, R> command) {
        try {
            return CompletableFuture.supplyAsync(() -> update(name, command), worker);
        } catch (RejectedExecutionException e) {
            return CompletableFuture.failedFuture(
                    new StoreException(StoreException.Outcome.NOT_EXECUTED, describe() + " is closed", e));
        }
    }

    private <R> R update(String name, Function<FolderName, R> command) {
        THIS_PROCESS.lock();
        try (FileChannel lock = FileChannel.open(folder.resolve("lock"), CREATE, WRITE)) {
            lock(lock);
            Path file = folder.resolve(fileName(name));
            String text = Files.exists(file) ? Files.readString(file) : FolderName.NEW;
            // Only now: the command may have waited for the lock for longer than a lease.
            FolderName state = new FolderName(text, time.wallMillis());
            R reply = command.apply(state);
            if (!state.text().equals(text)) {
                // A process that is killed here leaves the old file or the new one, and never half of it.
                Path next = folder.resolve("next");
                Files.writeString(next, state.text());
                Files.move(next, file, ATOMIC_MOVE);
            }
            return reply;
        } catch (StoreException e) {
            throw e;
        } catch (Exception e) {
            // The file may have been replaced before the error, so the engine must withdraw.
            throw new StoreException(StoreException.Outcome.UNKNOWN, describe() + " did not answer: " + e, e);
        } finally {
            THIS_PROCESS.unlock();
        }
    }

    /** Locks the folder until the channel is closed, or the process ends. Gives up: each command must be answered. */
    private void lock(FileChannel channel) throws Exception {
        long since = time.nanoTime();
        while (channel.tryLock() == null) {
            if (time.nanoTime() - since > PATIENCE_NANOS) {
                String busy = "another process has kept " + describe() + " locked for two seconds";
                throw new StoreException(StoreException.Outcome.NOT_EXECUTED, busy, null);
            }
            Thread.sleep(1);
        }
    }

    /** Returns a name that every file system takes: lock names have slashes, any letters, and up to 1,024 bytes. */
    private static String fileName(String name) throws Exception {
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(name.getBytes(StandardCharsets.UTF_8));
        return HexFormat.of().formatHex(digest);
    }
}
