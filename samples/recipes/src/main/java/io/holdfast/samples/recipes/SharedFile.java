package io.holdfast.samples.recipes;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.function.UnaryOperator;

/** Changes a file on a file system that several nodes have mounted. */
final class SharedFile {

    private final LockClient locks;
    private final Path file;

    SharedFile(LockClient locks, Path file) {
        this.locks = locks;
        this.file = file;
    }

    void update(UnaryOperator<String> change) throws IOException, InterruptedException {
        try (Lease lease = locks.acquire("file:" + file)) {
            String changed = change.apply(Files.exists(file) ? Files.readString(file) : "");
            Path next = file.resolveSibling(file.getFileName() + "." + lease.fencingToken());
            Files.writeString(next, changed);
            lease.ensureValid();
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        }
    }
}
