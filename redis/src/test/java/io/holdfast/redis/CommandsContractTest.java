package io.holdfast.redis;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.testkit.contract.LockStoreContract;
import io.holdfast.testkit.servers.Installation;
import io.holdfast.testkit.servers.RedisServer;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Runs the contract in mode {@code commands} on each server of this machine, with the commands that the server offers.
 * The user may not run scripts, so a store that tried to run one would fail.
 */
@ParameterizedClass(name = "{0}")
@MethodSource("servers")
class CommandsContractTest extends LockStoreContract {

    /** How scripts are taken away, and whether the store has to find that out. */
    enum Taken {
        BY_RENAME,
        BY_ACL
    }

    /** A server and how it is started. */
    record Variant(Installation installation, Taken scripts) {
        @Override
        public String toString() {
            return installation.label() + ", scripts taken away " + scripts;
        }
    }

    private static RedisServer server;
    private static String uri;

    CommandsContractTest(Variant variant) {}

    static List<Variant> servers() {
        List<Variant> variants = new ArrayList<>();
        for (Installation installation : RedisServer.available()) {
            variants.add(new Variant(installation, Taken.BY_ACL));
            if (!Boolean.getBoolean("holdfast.quick")) { // quick: RenamedCommandsTest, and the store is the same
                variants.add(new Variant(installation, Taken.BY_RENAME));
            }
        }
        return variants;
    }

    @BeforeParameterizedClassInvocation
    static void start(Variant variant) {
        server = scriptless(variant.installation(), variant.scripts());
        uri = variant.scripts() == Taken.BY_ACL ? "redis://app:pw@127.0.0.1:" + server.port() : server.uri();
    }

    @AfterParameterizedClassInvocation
    static void stop() {
        server.close();
    }

    /** A server that refuses scripts: all users, or the user {@code app} with the password {@code pw}. */
    static RedisServer scriptless(Installation installation, Taken how) {
        List<String> commands = new ArrayList<>(List.of("EVAL", "EVALSHA", "SCRIPT"));
        if (installation.isAtLeast(7, 0)) {
            commands.addAll(List.of("FCALL", "FUNCTION", "EVAL_RO", "EVALSHA_RO", "FCALL_RO"));
        }
        List<String> args = new ArrayList<>();
        if (how == Taken.BY_RENAME) {
            for (String command : commands) {
                args.addAll(List.of("--rename-command", command, ""));
            }
        }
        RedisServer started = RedisServer.builder()
                .installation(installation)
                .args(args.toArray(new String[0]))
                .start();
        if (how == Taken.BY_ACL) {
            List<String> rule = new ArrayList<>(List.of("ACL", "SETUSER", "app", "on", ">pw", "~*", "&*", "+@all"));
            for (String command : commands) {
                rule.add("-" + command.toLowerCase(Locale.ROOT));
            }
            started.command(rule.toArray(new String[0]));
        }
        return started;
    }

    @Override
    protected LockStore open(StoreContext context) {
        return new RedisLockStoreProvider().open(URI.create(uri), context);
    }

    @Override
    protected boolean showsBases() {
        return false;
    }

    @Override
    protected boolean hasQueue() {
        return false;
    }
}
