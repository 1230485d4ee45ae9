package io.holdfast.redis.server;

import io.holdfast.spi.DurationText;
import io.holdfast.spi.Finding;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Judges what the settings and the state of one server mean for locks. */
public final class ServerFindings {

    /** Above this share of its memory, a server may refuse locks soon. */
    private static final int MEMORY_PERCENT_MAX = 90;

    private static final Duration CLOCK_DIFFERENCE_MAX = Duration.ofMinutes(1);

    private final ServerInfo info;

    /** Names the server if there are several, for the end of a text; otherwise empty. */
    private final String where;

    /** Whether the server is a member of a quorum. */
    private final boolean isMember;

    public ServerFindings(ServerInfo info, boolean several) {
        this(info, several ? " (node on port " + info.field("tcp_port") + ")" : "", false);
    }

    private ServerFindings(ServerInfo info, String where, boolean isMember) {
        this.info = info;
        this.where = where;
        this.isMember = isMember;
    }

    /** Returns the findings on a member of a quorum. */
    public static ServerFindings ofMember(ServerInfo info, String member) {
        return new ServerFindings(info, " (" + member + ")", true);
    }

    /** Returns what INFO says, in a fixed order. */
    public List<Finding> all() {
        List<Finding> findings = new ArrayList<>();
        findings.add(version());
        findings.add(eviction());
        memory(findings);
        findings.add(persistence());
        failedWrites(findings);
        findings.add(replication());
        return findings;
    }

    private Finding version() {
        String valkey = info.field("valkey_version");
        String product = valkey.isEmpty() ? "Redis " + info.version() : "Valkey " + valkey;
        String mode = info.field("redis_mode");
        return Finding.ok("version", product + (mode.isEmpty() ? "" : ", " + mode) + where);
    }

    private Finding eviction() {
        String policy = info.field("maxmemory_policy");
        if (policy.isEmpty()) {
            return Finding.warning(
                    "eviction",
                    "the server does not say its eviction policy" + where,
                    "make sure that maxmemory-policy is noeviction");
        }
        if (policy.equals("noeviction")) {
            return Finding.ok("eviction", "maxmemory-policy is noeviction: locks are never evicted" + where);
        }
        String text = "maxmemory-policy is " + policy + ": when memory is full, locks are deleted while held" + where;
        String advice = "set maxmemory-policy noeviction in the server's configuration";
        return info.field("maxmemory").equals("0")
                ? Finding.warning("eviction", text + "; maxmemory is 0 now, so memory never counts as full", advice)
                : Finding.error("eviction", text, advice);
    }

    private void memory(List<Finding> findings) {
        long most = number("maxmemory");
        long used = number("used_memory");
        if (most > 0 && used > most / 100 * MEMORY_PERCENT_MAX) {
            findings.add(Finding.warning(
                    "memory",
                    used * 100 / most + " % of maxmemory is used; a full server refuses new locks" + where,
                    "raise maxmemory, or remove keys"));
        }
    }

    private Finding persistence() {
        String appendOnly = info.field("aof_enabled");
        if (appendOnly.equals("1")) {
            return Finding.ok(
                    "persistence", "appendonly is yes: a restart keeps holds but for the last writes" + where);
        }
        String risk = isMember
                ? "; without it a restart forgets the member's holds, and it does not vote for the longest lease"
                : "; without it a restart forgets holds, and a second client can acquire a lock that is held";
        return Finding.warning(
                "persistence",
                (appendOnly.isEmpty() ? "the server does not say whether appendonly is yes" : "appendonly is no")
                        + where
                        + risk,
                isMember ? "set appendonly yes" : "set appendonly yes, or rely on fencing tokens");
    }

    private void failedWrites(List<Finding> findings) {
        if (info.field("aof_last_write_status").equals("err")
                || info.field("rdb_last_bgsave_status").equals("err")) {
            findings.add(Finding.error(
                    "disk",
                    "the server could not write its data to disk, and may refuse writes" + where,
                    "see the server's log"));
        }
    }

    private Finding replication() {
        if (info.field("role").equals("slave")) {
            return Finding.error(
                    "replication",
                    "the server is a replica of " + info.field("master_host") + ":" + info.field("master_port")
                            + ": no lock can be taken there" + where,
                    "connect to the master");
        }
        long replicas = number("connected_slaves");
        if (isMember) {
            return Finding.ok(
                    "replication",
                    "a master with " + replicas + (replicas == 1 ? " replica" : " replicas")
                            + (replicas == 0 ? "" : ": one that takes its place has no vote for the longest lease")
                            + where);
        }
        return Finding.ok(
                "replication",
                replicas == 0
                        ? "a master without replicas: while it is away, no lock can be taken" + where
                        : "a master with " + replicas + (replicas == 1 ? " replica" : " replicas")
                                + ": a failover may lose its last writes (see minReplicas)" + where);
    }

    /** Compares the clocks of the server and of this machine. */
    public Finding clock(long serverMillis, long ownMillis) {
        Duration difference = Duration.ofMillis(serverMillis - ownMillis);
        String text = "the server's clock is " + DurationText.rounded(difference.abs())
                + (difference.isNegative() ? " behind" : " ahead of") + " this machine's" + where;
        return difference.abs().compareTo(CLOCK_DIFFERENCE_MAX) <= 0
                ? Finding.ok("clock", text)
                : Finding.warning(
                        "clock",
                        text + "; leases do not depend on that, but fencing tokens grow by the server's clock",
                        "synchronize both clocks");
    }

    /**
     * Compares the rates of the clocks of a member and of this machine.
     *
     * @param rate how much faster the server's clock ran, as a fraction; negative if it was slower
     * @param error how far the measured rate may be from the true one
     * @param allowed the largest difference that the quorum allows for
     */
    public Finding rate(double rate, double error, double allowed) {
        String text = String.format(
                Locale.ROOT,
                "the server's clock ran %.2f %% %s than this machine's (give or take %.2f %%)%s",
                Math.abs(rate) * 100,
                rate < 0 ? "slower" : "faster",
                error * 100,
                where);
        return Math.abs(rate) - error <= allowed
                ? Finding.ok("clock", text)
                : Finding.error(
                        "clock",
                        String.format(Locale.ROOT, "%s; RedLock is set to tolerate %.2f %%", text, allowed * 100),
                        "see what sets the server's clock or this one, or raise clockDrift at all clients");
    }

    private long number(String field) {
        try {
            return Long.parseLong(info.field(field));
        } catch (NumberFormatException e) {
            return 0;
        }
    }
}
