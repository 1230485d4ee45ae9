package io.holdfast.redis.commands;

import io.lettuce.core.protocol.ProtocolKeyword;
import java.nio.charset.StandardCharsets;

/** Commands that this store writes out by itself, because the driver does not know them on every server. */
public final class NativeCommand implements ProtocolKeyword {

    static final NativeCommand COMMAND = new NativeCommand("COMMAND");
    static final NativeCommand DELIFEQ = new NativeCommand("DELIFEQ");
    static final NativeCommand DELEX = new NativeCommand("DELEX");
    static final NativeCommand SET = new NativeCommand("SET");

    private final String word;

    private NativeCommand(String word) {
        this.word = word;
    }

    @Override
    public byte[] getBytes() {
        return word.getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public String toString() {
        return word;
    }
}
