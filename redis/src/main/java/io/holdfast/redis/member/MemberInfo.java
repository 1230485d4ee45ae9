package io.holdfast.redis.member;

import io.holdfast.quorum.QuorumMember.Identity;
import io.holdfast.quorum.QuorumMember.Standing;
import io.holdfast.redis.connect.RedisConnections;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.ServerInfo;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.regex.Pattern;

/**
 * The description that a member of a quorum gives of itself.
 *
 * @param runId differs for each life of the process
 * @param dataId equal for servers that replicate one another
 * @param keptMillis for how long the server has certainly kept its data: since its start, or zero if data was flushed,
 *     swapped or evicted since then, at an unknown time
 * @param doubts sentences that follow the member's name
 */
public record MemberInfo(String runId, String dataId, long keptMillis, List<String> doubts) {

    /**
     * The commands after which the birth, and the locks with it, may be gone. The server counts them since its start,
     * or since a CONFIG RESETSTAT.
     */
    private static final Pattern FLUSHED = Pattern.compile("(?m)^cmdstat_(flushall|flushdb|swapdb):");

    static CompletionStage<MemberInfo> of(RedisConnections connections, RedisErrors errors) {
        CompletableFuture<String> info = connections.commands().info().toCompletableFuture();
        CompletableFuture<String> commands =
                connections.commands().info("commandstats").toCompletableFuture();
        return errors.told(info.thenCombine(commands, MemberInfo::parse));
    }

    static MemberInfo parse(String answer, String commandStats) {
        ServerInfo info = new ServerInfo(answer);
        String uptime = info.field("uptime_in_seconds");
        boolean flushed =
                FLUSHED.matcher(commandStats).find() || !List.of("", "0").contains(info.field("evicted_keys"));
        return new MemberInfo(
                info.field("run_id"),
                info.field("master_replid"),
                flushed || uptime.isEmpty() ? 0 : Long.parseLong(uptime) * 1_000,
                info.warningsForQuorum());
    }

    /** Returns the identity. Its birth counts only if it is of the present life. */
    Identity identity(Standing standing) {
        return new Identity(
                runId,
                dataId,
                runIdOf(standing.birth()).equals(runId) ? standing : new Standing("", 0),
                keptMillis,
                doubts);
    }

    /** Returns the run id of the server that was given this birth; empty if there is none. */
    private static String runIdOf(String birth) {
        String[] parts = birth.split(":", -1);
        return parts.length == 3 ? parts[1] : "";
    }
}
