package shop;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.servers.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** Two instances of the application, one Redis, and everybody presses the button at once. */
class RefundsTest {

    private static final int CALLERS = 8;

    @Test
    void each_thing_is_done_once() throws Exception {
        try (RedisServer server = RedisServer.start();
                ConfigurableApplicationContext one = start(server);
                ConfigurableApplicationContext other = start(server)) {
            Refunds here = one.getBean(Refunds.class);
            Refunds there = other.getBean(Refunds.class);

            assertThat(atOnce(() -> here.refund("42"), () -> there.refund("42"))).containsOnlyOnce(true);
            assertThat(atOnce(() -> here.report("7"), () -> there.report("7"))).containsOnlyOnce(true);
            assertThat(atOnce(() -> exported(here), () -> exported(there))).containsOnlyOnce(true);
        }
    }

    private static boolean exported(Refunds refunds) throws InterruptedException {
        try {
            refunds.export();
            return true;
        } catch (BusyException e) {
            return false;
        }
    }

    private static List<Boolean> atOnce(Callable<Boolean> here, Callable<Boolean> there) throws Exception {
        ExecutorService callers = Executors.newFixedThreadPool(CALLERS);
        try {
            List<Callable<Boolean>> calls = new ArrayList<>();
            for (int i = 0; i < CALLERS; i++) {
                calls.add(i % 2 == 0 ? here : there);
            }
            List<Boolean> answers = new ArrayList<>();
            for (Future<Boolean> call : callers.invokeAll(calls)) {
                answers.add(call.get());
            }
            return answers;
        } finally {
            callers.shutdownNow();
        }
    }

    private static ConfigurableApplicationContext start(RedisServer server) {
        return SpringApplication.run(
                Shop.class,
                "--spring.main.banner-mode=off",
                "--logging.level.root=warn",
                "--spring.data.redis.url=" + server.uri());
    }
}
