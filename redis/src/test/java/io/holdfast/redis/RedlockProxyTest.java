package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.quorum.QuorumMember;
import io.holdfast.quorum.QuorumMember.Standing;
import io.holdfast.quorum.QuorumMember.Take;
import io.holdfast.quorum.QuorumMember.Vote;
import io.holdfast.redis.connect.SharedThreads;
import io.holdfast.redis.server.RedisUris;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import io.holdfast.testkit.servers.RedisServer;
import java.net.URI;
import org.junit.jupiter.api.Test;

/** A quorum's member behind a proxy that keeps its clients' connections while the server behind it is restarted. */
class RedlockProxyTest {

    @Test
    void a_server_restarted_empty_has_no_vote_from_its_first_answer_on() throws Exception {
        try (RedisServer server = RedisServer.start();
                FirstKeyProxy proxy = FirstKeyProxy.start(server);
                QuorumMember member = open(proxy)) {
            Standing admitted = TestClient.get(member.admit(0));
            assertThat(admitted.birth()).isNotEmpty();
            assertThat(vote(member, 1).standing()).isEqualTo(admitted);
            int connected = proxy.connected();
            server.restart();

            Vote after = vote(member, 2);
            assertThat(after.standing().birth())
                    .as("no answer counts without the birth")
                    .isEmpty();
            assertThat(proxy.connected()).as("connections of the client").isEqualTo(connected);
            Standing anew = TestClient.get(member.admit(60_000));
            assertThat(anew.birth()).isNotEmpty().isNotEqualTo(admitted.birth());
            assertThat(anew.quarantineMillis()).isPositive();
        }
    }

    private static QuorumMember open(FirstKeyProxy proxy) {
        proxy.keepsClients = true;
        return MemberOpening.open(
                RedisUris.parse(URI.create(proxy.uri())),
                new SharedThreads(),
                new StoreContext("hf-c", TimeSource.system()));
    }

    private static Vote vote(QuorumMember member, int number) {
        return TestClient.get(member.take(new Take("order:" + number, "hf-c:" + number + "~1", 30_000, 0, number, 0)));
    }
}
