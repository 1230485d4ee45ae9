package io.holdfast.redis.lua;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** What goes over the wire is what the driver itself would send. */
public class ScriptArgsTest {

    private static final String DIGEST = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db";

    @Test
    void isEncodedAsTheDriverDoes() {
        assertAlike(new String[0], new String[0]);
        assertAlike(new String[] {"n"}, new String[] {"hf-1:7", "30000:0:0", ""});
        assertAlike(new String[] {"Schlüssel", "錠", "a\r\nb", "🔒"}, new String[] {"123456789", "1234567890"});
        assertAlike(
                new String[] {"x".repeat(99), "x".repeat(100), "é".repeat(5_000)}, new String[] {"y".repeat(9_999)});
        String[] many = new String[512];
        for (int i = 0; i < many.length; i++) {
            many[i] = "a name as long as names may be, perhaps, with a number at its end: " + i;
        }
        assertAlike(many, many);
    }

    @Test
    void canBeSentAgain() {
        ScriptArgs args = new ScriptArgs(DIGEST, new String[] {"n"}, new String[] {"x"});
        assertThat(encoded(args)).isEqualTo(encoded(args));
    }

    @Test
    void goesToTheNodeOfItsFirstKey() {
        ScriptArgs args = new ScriptArgs(DIGEST, new String[] {"über", "n"}, new String[] {"x"});
        assertThat(StandardCharsets.UTF_8.decode(args.getFirstEncodedKey()).toString())
                .isEqualTo("über");
    }

    private static void assertAlike(String[] keys, String[] args) {
        ScriptArgs packed = new ScriptArgs(DIGEST, keys, args);
        CommandArgs<String, String> drivers = new CommandArgs<>(StringCodec.UTF8)
                .add(DIGEST)
                .add(keys.length)
                .addKeys(keys)
                .addValues(args);
        assertThat(packed.count()).isEqualTo(drivers.count());
        assertThat(encoded(packed)).isEqualTo(encoded(drivers));
    }

    private static String encoded(CommandArgs<String, String> args) {
        ByteBuf buffer = Unpooled.buffer();
        args.encode(buffer);
        return buffer.toString(StandardCharsets.UTF_8);
    }
}
