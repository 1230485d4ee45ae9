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
        // Opens the file at each call: a checkpoint refuses open files.
        try (InputStream kernel = new FileInputStream(KERNEL)) {
            byte[] bits = kernel.readNBytes(count);
            if (bits.length == count) {
                return bits;
            }
        } catch (IOException e) {
            // Not a Unix, or a sandbox without devices: only the platform's own generator is left.
            return fromPlatform(count);
        }
        return fromPlatform(count);
    }

    private static byte[] fromPlatform(int count) {
        byte[] bits = new byte[count];
        new SecureRandom().nextBytes(bits);
        return bits;
    }
}
