package io.holdfast;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.security.SecureRandom;

/**
 * Random bits that two processes restored from one image do not share. The kernel makes them at the call, because a
 * generator inside the process and its buffer are part of the image.
 */
final class FreshBits {

    private static final String KERNEL = "/dev/urandom";

    private FreshBits() {}

    static long next() {
        return ByteBuffer.wrap(bytes(Long.BYTES)).getLong();
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
