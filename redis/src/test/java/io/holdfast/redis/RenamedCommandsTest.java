package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.holdfast.redis.commands.CommandsLockStore;
import io.holdfast.redis.connect.SharedThreads;
import io.holdfast.redis.lua.LuaScript;
import io.holdfast.redis.lua.ScriptHead;
import io.holdfast.redis.messages.Publishing;
import io.holdfast.redis.server.RedisSettings;
import io.holdfast.redis.server.RedisUris;
import io.holdfast.spi.Finding;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.TimeSource;
import io.holdfast.testkit.servers.Installation;
import io.holdfast.testkit.servers.RedisServer;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** No grant gives a user a command that the server does not have under that name, so none is advised. */
@ParameterizedClass(name = "{0}")
@MethodSource("io.holdfast.testkit.servers.RedisServer#available")
class RenamedCommandsTest {

    private static final Pattern CALL = Pattern.compile("redis\\.p?call\\('([A-Z]+)'");

    private final Installation installation;

    RenamedCommandsTest(Installation installation) {
        this.installation = installation;
    }

    @Test
    void aRenamedCommandIsNamedInBothModes() {
        try (RedisServer server = renamed("DEL", "DEL_new")) {
            for (String mode : List.of("lua", "commands")) {
                StoreException error = failure(server.uri() + "?mode=" + mode);
                assertThat(error)
                        .hasMessage("redis://127.0.0.1:" + server.port()
                                + "/0 has no command DEL, which the mode " + mode
                                + " uses (see rename-command in the server's configuration)");
                assertThat(error.outcome()).isEqualTo(StoreException.Outcome.FATAL);
            }
        }
    }

    /**
     * A grant that would not suffice is not advised: the missing right to TYPE is reported once the commands are there.
     */
    @Test
    void missingCommandsComeBeforeMissingRights() {
        try (RedisServer server = renamed("PTTL", "", "GET", "FETCH")) {
            server.command("ACL", "SETUSER", "poor", "on", ">pw", "~*", "&*", "+@all", "-type");
            for (String mode : List.of("lua", "commands")) {
                String said = failure("redis://poor:pw@127.0.0.1:" + server.port() + "?mode=" + mode)
                        .getMessage();
                assertThat(said).contains(" has no commands ").doesNotContain("ACL", "TYPE");
                assertThat(said).containsPattern("no commands (PTTL and GET|GET and PTTL), which the mode " + mode);
            }
        }
    }

    @Test
    void withoutScriptsModeLuaNamesTheCommandAndTheOtherMode() {
        try (RedisServer server = renamed("EVAL", "", "EVALSHA", "")) {
            assertThat(failure(server.uri() + "?mode=lua"))
                    .hasMessage(
                            "redis://127.0.0.1:" + server.port() + "/0 has no command EVALSHA, so it runs no scripts"
                                    + " (see rename-command in the server's configuration, or use mode=commands)");
            try (TestClient client = new TestClient(server.uri())) {
                assertThat(client.below()).isInstanceOf(CommandsLockStore.class);
                assertThat(client.store.diagnose("n").toCompletableFuture().join())
                        .filteredOn(finding -> finding.subject().equals("mode"))
                        .extracting(Finding::advice)
                        .containsExactly("set mode=commands if this is intended");
            }
        }
    }

    /** EVAL would do instead of EVALSHA, so the missing right to it is the reason. */
    @Test
    void aRightThatHelpsIsNamedBeforeACommandThatIsNotNeeded() {
        try (RedisServer server = renamed("EVALSHA", "")) {
            server.command("ACL", "SETUSER", "some", "on", ">pw", "~*", "&*", "+@all", "-eval");
            assertThat(failure("redis://some:pw@127.0.0.1:" + server.port() + "?mode=lua")
                            .getMessage())
                    .contains("does not let the user some run scripts")
                    .contains("NOPERM")
                    .endsWith("ACL SETUSER some +@scripting ~holdfast:*)");
        }
    }

    /** The first release found it. */
    @Test
    void aMemberOfAQuorumNamesItToo() {
        try (RedisServer server = renamed("DEL", "DEL_new")) {
            SharedThreads threads = new SharedThreads();
            RedisSettings settings = RedisUris.parse(URI.create(server.uri()));
            StoreContext context = new StoreContext(TestClient.newId(), TimeSource.system());
            assertThatThrownBy(
                            () -> MemberOpening.open(settings, threads, context).close())
                    .isInstanceOf(StoreException.class)
                    .hasMessage("redis://127.0.0.1:" + server.port()
                            + "/0 has no command DEL, which RedLock uses (see rename-command in the server's"
                            + " configuration)");
        }
    }

    /** So that a command that is new in a script is tried as well. */
    @Test
    void theTrialOfAMemberHasEachCommandOfItsScripts() {
        ScriptHead head = new ScriptHead(Publishing.PLAIN, "", false);
        Set<String> used = new TreeSet<>();
        LuaScript.OF_MEMBERS.forEach(script -> used.addAll(commands(script.text(head, true))));
        Set<String> tried = commands(LuaScript.QUORUM_PROBE.text(head, true));
        // Refused messages are hints that do not come.
        used.remove("PUBLISH");
        assertThat(used).hasSizeGreaterThan(10).isEqualTo(tried);
    }

    private static Set<String> commands(String script) {
        return CALL.matcher(script).results().map(call -> call.group(1)).collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void theDiagnosisAdvisesNoGrant() {
        try (RedisServer server = renamed("PUBSUB", "");
                TestClient client = new TestClient(server.uri())) {
            assertThat(client.store.diagnose("n").toCompletableFuture().join())
                    .filteredOn(finding -> finding.text().contains("PUBSUB"))
                    .extracting(Finding::advice)
                    .containsExactly("see rename-command in the server's configuration");
        }
    }

    private RedisServer renamed(String... commandsAndNames) {
        List<String> args = new ArrayList<>();
        for (int i = 0; i < commandsAndNames.length; i += 2) {
            args.addAll(List.of("--rename-command", commandsAndNames[i], commandsAndNames[i + 1]));
        }
        return RedisServer.builder()
                .installation(installation)
                .args(args.toArray(String[]::new))
                .start();
    }

    private static StoreException failure(String uri) {
        return catchThrowableOfType(StoreException.class, () -> new TestClient(uri).close());
    }
}
