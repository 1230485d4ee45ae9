package io.holdfast.bench.torture;

import io.holdfast.history.Findings;
import io.holdfast.testkit.torture.ServerKind;
import io.holdfast.testkit.torture.Torture;
import io.holdfast.testkit.torture.TortureServers;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;

/** {@code holdfast torture} with Redisson's fenced lock in Holdfast's place: the same uses, faults and checks. */
public final class RedissonTorture {

    private RedissonTorture() {}

    /** Takes one argument: the length in seconds. */
    public static void main(String[] args) throws IOException, InterruptedException {
        Duration length = Duration.ofSeconds(args.length == 0 ? 60 : Long.parseLong(args[0]));
        try (TortureServers redis = ServerKind.SINGLE.start()) {
            Torture torture = new Torture(
                    RedissonWorker.class,
                    redis.uri(),
                    Files.createTempDirectory("redisson-torture"),
                    length.hashCode());
            Torture.Report report = torture.with(redis).run(3, length, System.err::println);
            Findings found = report.findings();
            System.out.println(found.operations() + " uses, " + found.granted() + " leases, " + found.timedOut()
                    + " timed out, " + found.failed() + " errors, " + found.lost() + " lost, " + found.rejected()
                    + " stale writes rejected, " + found.damage() + " additions lost without tokens");
            System.out.println(report.faults());
            System.out.println(found.violations().size() + " violations; history: " + report.history());
            found.violations().stream().limit(20).forEach(System.out::println);
        }
    }
}
