package io.holdfast.verify.redis;

import io.holdfast.verify.redis.KeySpace.Refusal;
import io.holdfast.verify.redis.KeySpace.Status;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.protocol.RedisCommand;
import io.lettuce.core.protocol.RedisStateMachine;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The protocol between the driver and the model: what the driver would write, and what it would read. */
final class Resp {

    /** On the heap, where nobody looks whether they are given back. */
    private static final ByteBufAllocator BUFFERS = new UnpooledByteBufAllocator(false, true);

    private Resp() {}

    /** The words of a command, read from what the driver encodes. */
    static List<String> words(RedisCommand<?, ?, ?> command) {
        ByteBuf bytes = BUFFERS.heapBuffer(128);
        command.encode(bytes);
        int count = number(bytes);
        List<String> words = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            int length = number(bytes);
            words.add(bytes.readCharSequence(length, StandardCharsets.UTF_8).toString());
            bytes.skipBytes(2);
        }
        return words;
    }

    /** The number in a line that begins with one letter. */
    private static int number(ByteBuf bytes) {
        bytes.skipBytes(1);
        int number = 0;
        for (byte digit = bytes.readByte(); digit != '\r'; digit = bytes.readByte()) {
            number = 10 * number + digit - '0';
        }
        bytes.skipBytes(1);
        return number;
    }

    /** Lets the driver read an answer. */
    static void read(@Nullable Object answer, RedisStateMachine driver, CommandOutput<?, ?, ?> output) {
        StringBuilder text = new StringBuilder();
        write(answer, text);
        if (!driver.decode(Unpooled.wrappedBuffer(bytes(text.toString())), output)) {
            throw new AssertionError("The driver does not understand " + text);
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void write(@Nullable Object answer, StringBuilder out) {
        if (answer == null) {
            out.append("$-1\r\n");
        } else if (RedisModel.DISCARDED.equals(answer)) {
            out.append("*-1\r\n");
        } else if (answer instanceof Status status) {
            out.append('+').append(status.word()).append("\r\n");
        } else if (answer instanceof Refusal refusal) {
            out.append('-').append(refusal.said()).append("\r\n");
        } else if (answer instanceof Long number) {
            out.append(':').append(number).append("\r\n");
        } else if (answer instanceof List<?> parts) {
            out.append('*').append(parts.size()).append("\r\n");
            parts.forEach(part -> write(part, out));
        } else {
            String text = (String) answer;
            out.append('$')
                    .append(bytes(text).length)
                    .append("\r\n")
                    .append(text)
                    .append("\r\n");
        }
    }
}
