package io.holdfast.redis.member;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.quorum.QuorumMember.Standing;
import org.junit.jupiter.api.Test;

public class MemberInfoTest {

    private static final String INFO = """
            # Server
            run_id:abc
            uptime_in_seconds:100
            # Stats
            evicted_keys:0
            role:master
            master_replid:def
            aof_enabled:1
            maxmemory_policy:noeviction
            """;
    private static final String COMMANDS = "# Commandstats\ncmdstat_get:calls=7,usec=1\n";

    @Test
    void a_good_member() {
        MemberInfo info = MemberInfo.parse(INFO, COMMANDS);
        assertThat(info.runId()).isEqualTo("abc");
        assertThat(info.dataId()).isEqualTo("def");
        assertThat(info.keptMillis()).isEqualTo(100_000);
        assertThat(info.doubts()).isEmpty();
    }

    @Test
    void nobody_knows_how_long_data_were_kept_that_were_deleted_as_a_whole() {
        for (String command : new String[] {"flushall", "flushdb", "swapdb"}) {
            assertThat(MemberInfo.parse(INFO, COMMANDS + "cmdstat_" + command + ":calls=1,usec=3\n")
                            .keptMillis())
                    .as(command)
                    .isZero();
        }
        assertThat(MemberInfo.parse(INFO.replace("evicted_keys:0", "evicted_keys:3"), COMMANDS)
                        .keptMillis())
                .isZero();
    }

    @Test
    void what_makes_a_bad_member_is_said() {
        assertThat(MemberInfo.parse(INFO.replace("aof_enabled:1", "aof_enabled:0"), "")
                        .doubts())
                .singleElement()
                .asString()
                .contains("appendonly is no");
        assertThat(MemberInfo.parse(INFO.replace("role:master", "role:slave\nmaster_host:h\nmaster_port:1"), "")
                        .doubts())
                .singleElement()
                .asString()
                .contains("is a replica of h:1");
        assertThat(MemberInfo.parse(INFO.replace("noeviction", "allkeys-lru"), "")
                        .doubts())
                .singleElement()
                .asString()
                .contains("may evict locks");
    }

    @Test
    void a_birth_counts_in_the_life_that_it_was_given_in_only() {
        MemberInfo info = MemberInfo.parse(INFO, COMMANDS);
        Standing now = new Standing("uuid:abc:1700000000000", 5);
        assertThat(info.identity(now).standing()).isEqualTo(now);
        assertThat(info.identity(new Standing("uuid:before:1700000000000", 5)).standing())
                .isEqualTo(new Standing("", 0));
    }
}
