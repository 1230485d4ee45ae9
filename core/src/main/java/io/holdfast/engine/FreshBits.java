package io.holdfast.engine;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Makes random bits. Those of {@link #next} and {@link #bytes} are not shared by two processes restored from one image:
 * the kernel makes them at the call, because a generator inside the process and its buffer are part of the image.
 */
final class FreshBits {

    private static final String KERNEL = "/dev/urandom";

    private static final int BUFFERED = 128 * Long.BYTES;
    private static final ReentrantLock LOCK = new ReentrantLock();
    private static ByteBuffer buffer = ByteBuffer.allocate(0); // by LOCK

    private FreshBits() {}

    static long next() {
        return ByteBuffer.wrap(bytes(Long.BYTES)).getLong();
    }

    /**
     * Returns random bits that another process cannot guess, but that a process from the same image may also return. A
     * call of the kernel serves many calls of this method, because each request that queues needs such bits.
     */
    static long buffered() {
        LOCK.lock();
        try {
            if (!buffer.hasRemaining()) {
                buffer = ByteBuffer.wrap(bytes(BUFFERED));
            }
            return buffer.getLong();
        } finally {
            LOCK.unlock();
        }
    }

    static byte[] bytes(int count) {
        byte[] bits = new byte[count];
        // Opens the file at each call: a checkpoint refuses open files.
        try (InputStream kernel = new FileInputStream(KERNEL)) {
            if (kernel.readNBytes(bits, 0, count) == count) {
                return bits;
            }
        } catch (IOException e) {
            // Not a Unix, or a sandbox without devices: only the platform's own generator is left.
        }
        new SecureRandom().nextBytes(bits);
        return bits;
    }
}
