package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import org.junit.jupiter.api.Test;

/** {@code inspect --json}: one line, always with the same fields. */
class InspectJsonTest extends WithRedis {

    @Test
    void aFreeLock() {
        assertThat(json("free"))
                .isEqualTo("{\"name\":\"free\",\"locked\":false,\"holder\":null,\"remainingMillis\":0,"
                        + "\"fencingToken\":null,\"waitingClients\":0,\"holderTitle\":null,\"heldMillis\":null,"
                        + "\"renewed\":false,\"thread\":null,\"traceId\":null,\"flags\":[],\"waiters\":0,\"queue\":[],"
                        + "\"permits\":null,\"readWrite\":null}");
    }

    @Test
    void aHeldLockWhoseTokenIsText() {
        try (Lease held = locks.tryAcquire("held").orElseThrow()) {
            assertThat(json("held"))
                    .startsWith("{\"name\":\"held\",\"locked\":true,\"holder\":\""
                            + locks.inspect("held").holder().orElseThrow() + "\",\"remainingMillis\":")
                    .contains(",\"fencingToken\":\"" + held.fencingToken() + "\",\"waitingClients\":0,")
                    .containsPattern("\"remainingMillis\":[1-9][0-9]*,");
        }
    }

    @Test
    void whatHasNoExpiryHasNoTimeLeft() {
        redis.command("HSET", "lock:foreign", "11111111-2222-3333-4444-555555555555:1", "1");
        assertThat(json("foreign")).contains("\"locked\":true", "\"remainingMillis\":null,", "\"fencingToken\":null,");
    }

    /** A name with what JSON or a terminal would take for its own. */
    @Test
    void aNameIsEscaped() {
        assertThat(json("a\"b\\c\td\ne\u0007\u007f\u00fc\ud83d\ude00\u2028</script>"))
                .startsWith(
                        "{\"name\":\"a\\\"b\\\\c\\u0009d\\u000ae\\u0007\\u007f\\u00fc\\ud83d\\ude00\\u2028</script>\",");
    }

    private String json(String name) {
        InProcess result = InProcess.run("inspect", "--json", "--store", redis.uri(), name);
        assertThat(result.err()).isEmpty();
        assertThat(result.exitCode()).isZero();
        assertThat(result.out().lines()).hasSize(1);
        return result.out().strip();
    }
}
