package io.holdfast.testkit.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class RedisReplicationTest {

    @Test
    void replicasFollowAndOneCanBePromotedByHand() {
        try (RedisReplication all = RedisReplication.builder().start()) {
            RedisServer first = all.master();
            assertThat(first).isSameAs(all.servers().get(0));
            assertThat(all.replicas()).hasSize(2);
            assertThat(all.sentinels()).isEmpty();
            first.command("SET", "k", "1");
            all.awaitInStep();
            for (RedisServer replica : all.replicas()) {
                assertThat(replica.command("GET", "k")).isEqualTo("1");
                assertThatThrownBy(() -> replica.command("SET", "k", "2")).hasMessageStartingWith("READONLY");
            }

            all.cutReplication(true);
            first.command("SET", "k", "lost");
            RedisServer next = all.failover();
            assertThat(all.master()).isSameAs(next).isNotSameAs(first);
            assertThat(next.command("GET", "k")).isEqualTo("1");
            assertThat(first.command("GET", "k")).isEqualTo("1");
        }
    }

    @Test
    @Tag("deep") // quick: RedisSentinelTest of redis
    void sentinelsReplaceAMasterThatWasKilledAndByOrder() {
        try (RedisReplication all = RedisReplication.builder().sentinels().start()) {
            RedisServer first = all.master();
            assertThat(all.sentinelUri())
                    .isEqualTo("redis-sentinel://"
                            + String.join(
                                    ",",
                                    all.sentinels().stream()
                                            .map(RedisServer::address)
                                            .toList())
                            + "/0#holdfast");
            first.command("SET", "k", "1");
            all.awaitInStep();
            first.kill();
            assertThat(first.isUp()).isFalse();
            RedisServer second = all.awaitMasterOtherThan(first);
            assertThat(second.command("GET", "k")).isEqualTo("1");
            assertThat(second.command("SET", "k", "2")).isEqualTo("OK");
            all.awaitInStep();

            RedisServer third = all.failover();
            assertThat(third).isNotIn(first, second).isSameAs(all.master());
            assertThat(third.command("GET", "k")).isEqualTo("2");
            assertThat(third.command("SET", "k", "3")).isEqualTo("OK");
        }
    }
}
