package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.LockClient;
import io.holdfast.cli.process.Kill;
import io.holdfast.testkit.servers.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page in a real browser, before processes that contend; the holder of the lock that all wait for is stopped. */
@Tag("deep")
class PageTest {

    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final String EVIL = "<img src=x onerror=document.title=666>";

    private final List<CliProcess> programs = new ArrayList<>();

    @TempDir
    private Path folder;

    @AfterEach
    void stop() {
        programs.forEach(CliProcess::close);
    }

    @Test
    void showsWhoBlocksWhomAndReleases() throws Exception {
        Optional<Path> chromium = Browser.program();
        assumeTrue(chromium.isPresent(), "there is no chromium on the PATH (Debian: apt-get install chromium)");
        try (RedisServer redis = RedisServer.start();
                LockClient locks = LockClient.connect(redis.uri());
                CliProcess console = CliProcess.start("console", "--allow-release", "--store", redis.uri());
                Browser browser = new Browser(chromium.get(), folder)) {
            CliProcess billing = program(redis, "billing", "order:refund:17,month-end", "-");
            program(redis, "orders", "stock:4711", "order:refund:17,order:refund:17");
            program(redis, "mailer", "inbox", "stock:4711,order:refund:17");
            program(redis, EVIL, EVIL, "inbox,month-end");
            program(redis, "left", "ledger:a", "!ledger:b");
            program(redis, "right", "ledger:b", "!ledger:a");
            program(redis, "import", "job:import", "job:export");
            program(redis, "export", "job:export", "job:import");
            programs.forEach(program -> program.type(""));
            Awaitility.await()
                    .atMost(PATIENCE)
                    .until(() -> locks.cards().stream()
                                    .filter(card -> card.heldCount() + card.waitingCount() > 0)
                                    .count()
                            == programs.size());
            Kill.send("STOP", List.of(billing.pid()));

            console.awaitOut("\n");
            browser.open(console.out().strip());
            browser.await("document.getElementById('live').textContent === 'live'");
            // Six callers of three clients wait, and the others for those; the deadlock counts when it was seen twice.
            browser.await(
                    "document.querySelectorAll('.flag.DEAD').length > 1"
                            + " && document.getElementById('main').textContent.includes('Deadlock: 2 clients wait for each other')");
            String blocker = "document.querySelector('.blocker').textContent";
            assertThat(browser.value(blocker)).startsWith("billing@").contains("blocks 4 callers", "DEAD");
            assertThat(browser.value(blocker))
                    .contains("orders@", "and blocks 1 caller itself:", "stock:4711", "mailer@");

            // A name is a text, whatever it says.
            assertThat(browser.value("document.images.length + ' ' + document.title"))
                    .startsWith("0 DEADLOCK");
            assertThat(browser.value("document.getElementById('main').textContent.includes('" + EVIL + "')"))
                    .isEqualTo("true");

            browser.screenshot(Path.of("target", "page.png"));
            browser.prefer("dark");
            browser.screenshot(Path.of("target", "page-dark.png"));
            browser.prefer("light");

            // The keyboard: filter, select, open, and back.
            browser.press("/");
            browser.type("refund");
            browser.await("document.querySelectorAll('section tr[data-lock]').length === 1");
            browser.press("Escape");
            browser.await("document.querySelectorAll('section tr[data-lock]').length > 5");
            browser.press("j");
            browser.press("k");
            browser.press("Enter");
            browser.await("location.hash.startsWith('#ledger')");
            browser.press("Escape");
            browser.await("location.hash === ''");
            browser.press("/");
            browser.type("order:refund:17");
            browser.press("Enter");
            browser.await("location.hash === '#order%3Arefund%3A17' && document.querySelectorAll('svg').length === 2");
            browser.await("document.querySelector('dl').textContent.includes('billing@')");
            assertThat(browser.value("document.querySelector('table').textContent"))
                    .contains("orders@", "mailer@");

            // The stopped holder loses the lock to one of its waiters.
            browser.value("document.querySelector('button.danger').click()");
            browser.await(
                    "document.querySelector('button.danger').textContent.startsWith('Yes, take the lock from billing@')");
            assertThat(locks.inspect("order:refund:17").holderTitle().orElseThrow())
                    .startsWith("billing@");
            browser.value("document.querySelector('button.danger').click()");
            browser.await("document.getElementById('main').textContent.includes('Released')");
            browser.await("document.querySelector('ol').textContent.includes('lost by billing@')");
            browser.await("document.querySelector('dd').textContent.match(/^(orders|mailer)@/) !== null");
            browser.screenshot(Path.of("target", "page-lock.png"));

            Kill.send("KILL", List.of(console.pid()));
            browser.await("document.getElementById('live').textContent === 'not connected'");
            assertThat(browser.complaints()).allSatisfy(line -> assertThat(line).contains("ERR_"));
            assertThat(console.err()).isEmpty();
        }
    }

    private CliProcess program(RedisServer redis, String name, String holds, String waits) {
        CliProcess program = CliProcess.program(LockProgram.class, redis.uri(), name, holds, waits);
        programs.add(program);
        program.awaitOut("holds");
        return program;
    }
}
