package io.holdfast.bench.agent;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

/**
 * The times at which one thread was inside the critical section. The parent merges the journals of all processes to
 * find overlaps and hand-offs. Not thread-safe.
 */
public final class Journal {

    private long[] times = new long[1 << 12];
    private int size;

    void add(long entered, long left) {
        if (size == times.length) {
            times = Arrays.copyOf(times, 2 * size);
        }
        times[size++] = entered;
        times[size++] = left;
    }

    void appendTo(Path file) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(size * Long.BYTES);
        bytes.asLongBuffer().put(times, 0, size);
        try (FileChannel out = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
            while (bytes.hasRemaining()) {
                out.write(bytes);
            }
        }
    }

    /** Returns all pairs of a file, one after the other. */
    public static long[] read(Path file) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(java.nio.file.Files.readAllBytes(file));
        long[] times = new long[bytes.remaining() / Long.BYTES];
        bytes.asLongBuffer().get(times);
        return times;
    }
}
