package io.holdfast.redis.lua;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The arguments of a script, encoded for the wire. The driver would keep an object for each argument, and encode each
 * into a buffer of its own; a renewal of many holds has hundreds, and that would be its largest cost.
 */
public final class ScriptArgs extends CommandArgs<String, String> {

    /** The longest line before an argument: a sign, the digits of an int, and the line end. */
    private static final int HEAD_MOST = 13;

    /** The usual size of a name or a holder id. */
    private static final int USUAL_BYTES = 48;

    private final String[] keys;
    private final int count;
    private byte[] bytes;
    private int size;

    /** @param script digest or text */
    ScriptArgs(String script, String[] keys, String[] args) {
        super(StringCodec.UTF8);
        this.keys = keys;
        this.count = 2 + keys.length + args.length;
        this.bytes = new byte[script.length() + USUAL_BYTES * count];
        put(script);
        put(Integer.toString(keys.length));
        for (String key : keys) {
            put(key);
        }
        for (String arg : args) {
            put(arg);
        }
    }

    private void put(String text) {
        byte[] encoded = text.getBytes(UTF_8);
        int most = size + encoded.length + HEAD_MOST + 2;
        if (most > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(most, 2 * bytes.length));
        }
        bytes[size++] = '$';
        putDigits(encoded.length);
        endLine();
        System.arraycopy(encoded, 0, bytes, size, encoded.length);
        size += encoded.length;
        endLine();
    }

    private void putDigits(int number) {
        if (number >= 10) {
            putDigits(number / 10);
        }
        bytes[size++] = (byte) ('0' + number % 10);
    }

    private void endLine() {
        bytes[size++] = '\r';
        bytes[size++] = '\n';
    }

    @Override
    public int count() {
        return count;
    }

    /** Writes the arguments. Idempotent: the driver may send a command again. */
    @Override
    public void encode(ByteBuf buffer) {
        buffer.writeBytes(bytes, 0, size);
    }

    /** Returns the key by which the driver chooses the node in a cluster. */
    @Override
    public ByteBuffer getFirstEncodedKey() {
        return ByteBuffer.wrap(keys[0].getBytes(UTF_8));
    }

    /** Returns a short text for the driver's own messages: arguments can be long. */
    @Override
    public String toCommandString() {
        return String.join(" ", keys);
    }

    @Override
    public String toString() {
        return "ScriptArgs" + Arrays.toString(keys);
    }
}
