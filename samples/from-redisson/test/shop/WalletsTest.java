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
class WalletsTest {

    private static final int CALLERS = 8;

    @Test
    void each_thing_is_done_once_and_no_money_is_lost() throws Exception {
        try (RedisServer server = RedisServer.start();
                ConfigurableApplicationContext one = start(server);
                ConfigurableApplicationContext other = start(server)) {
            Wallets here = one.getBean(Wallets.class);
            Wallets there = other.getBean(Wallets.class);

            assertThat(atOnce(() -> here.redeem("X7", "ann"), () -> there.redeem("X7", "bob")))
                    .containsOnlyOnce(true);
            assertThat(atOnce(here::statement, there::statement)).containsOnlyOnce(true);

            atOnce(() -> transferred(here, "ann", "bob"), () -> transferred(there, "bob", "ann"));
            assertThat(here.balance("ann") + here.balance("bob")).isZero();
            assertThat(here.balance("ann")).isZero();
        }
    }

    private static boolean transferred(Wallets wallets, String from, String to) throws InterruptedException {
        for (int i = 0; i < 10; i++) {
            wallets.transfer(from, to, 5);
        }
        return true;
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
