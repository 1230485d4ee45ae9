package io.holdfast.redis;

import io.lettuce.core.protocol.ProtocolKeyword;
import java.nio.charset.StandardCharsets;

/** Commands that this store writes out by itself, because the driver does not know them on every server. */
enum NativeCommand implements ProtocolKeyword {
    COMMAND,
    DELIFEQ,
    DELEX,
    SET;

    private final byte[] bytes = name().getBytes(StandardCharsets.US_ASCII);

    @Override
    public byte[] getBytes() {
        return bytes.clone();
    }
}
