package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.redis.server.RedisSettings;
import java.net.URI;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RedlockUriTest {

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            redlock://h1                               | quorum members: 1 (expected: 3, 5, 7 or 9
            redlock://h1,h2                            | quorum members: 2 (expected: 3, 5, 7 or 9
            redlock://h1,h2,h3,h4                      | quorum members: 4 (expected: an odd number
            redlock://h1,h2,h1                         | "redis://h1:6379/0" twice
            redlock:h1                                 | hosts: missing
            redlock://h1,h2,h3?memberTimeout=1h        | memberTimeout: "1h" (expected: for example 100ms
            redlock://h1,h2,h3?memberTimeout=1ms       | memberTimeout: 1 ms (expected: from
            redlock://h1,h2,h3?clockDrift=2            | clockDrift: "2" (expected: a fraction
            redlock://h1,h2,h3?bootstrap=yes           | bootstrap: "yes" (expected: true or false)
            redlock://h1,h2,h3?minReplicas=1           | minReplicas
            redlock://h1,h2,h3?redissonChannels=none   | redissonChannels (expected: not with redlock
            redlock://h1,h2,h3?mode=commands           | mode (expected: not with redlock: its servers must run Lua scripts
            redlock://h1,h2,h3?colour=red              | option: unknown name
            redlock://h1,h2,h3?waitTime=10s            | option: "waitTime", which is no setting of the store (expected: LockOptions.waitAtMost(…)
            redlock://h1,h2,h3#part                    | # or @ after the hosts
            redlock://h1,,h3                           | expected:
            """)
    void what_is_wrong_is_said_before_anything_is_connected(String uri, String said) {
        assertThatThrownBy(() -> LockClient.connect(uri))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(said);
    }

    @Test
    void no_message_has_the_password() {
        for (String rest : new String[] {"h1,h2", "h1,h2,h3,h4", "h1,h2,h1", "h1,h2,h3?x=y", "h1,h2,h3:x"}) {
            assertThatThrownBy(() -> LockClient.connect("redlock://user:geheim@" + rest))
                    .hasMessageNotContaining("geheim");
        }
        for (String forgotten : new String[] {
            "user:geheim", "user:geheim/0", "user:123/geheim", "user:123?geheim=1", "user:p@geheim$,h2,h3", "geheim$"
        }) {
            assertThatThrownBy(() -> LockClient.connect("redlock://" + forgotten))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageNotContaining("geheim");
        }
    }

    @Test
    void all_servers_have_the_same_settings() {
        RedlockUri parsed = RedlockUri.parse(
                URI.create("redlock://u:p@h1,h2:7000,%5B::1%5D:7001/3?internalPrefix=x&tls=true&bootstrap=true"));
        assertThat(parsed.servers())
                .extracting(RedisSettings::describe)
                .containsExactly("rediss://h1:6379/3", "rediss://h2:7000/3", "rediss://[::1]:7001/3");
        assertThat(parsed.servers()).allMatch(server -> server.internalPrefix().equals("x"));
    }

    @Test
    void a_password_may_have_brackets() {
        RedlockUri parsed = RedlockUri.parse(URI.create("redlock://:a%5Bb%5D@h1,h2,%5B::1%5D:7001"));
        assertThat(parsed.servers())
                .extracting(server -> server.node()
                        .getCredentialsProvider()
                        .resolveCredentials()
                        .block())
                .allSatisfy(credentials -> assertThat(credentials.getPassword()).containsExactly('a', '[', 'b', ']'));
    }
}
