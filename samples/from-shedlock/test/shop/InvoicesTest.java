package shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.testkit.servers.RedisServer;
import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.data.redis.core.StringRedisTemplate;

/** Two instances whose schedules run at the same time, and one Redis. */
class InvoicesTest {

    private static final int ORDERS = 100;

    @Test
    void each_order_gets_one_invoice() {
        try (RedisServer server = RedisServer.start();
                ConfigurableApplicationContext one = start(server);
                ConfigurableApplicationContext other = start(server)) {
            assertThat(other.isActive()).isTrue();
            StringRedisTemplate redis = one.getBean(StringRedisTemplate.class);
            redis.opsForSet()
                    .add(
                            "orders:open",
                            IntStream.range(0, ORDERS)
                                    .mapToObj(order -> "order-" + order)
                                    .toArray(String[]::new));

            // Long enough that no run is under way any more.
            await().during(Duration.ofSeconds(3))
                    .atMost(Duration.ofSeconds(30))
                    .until(() -> Boolean.FALSE.equals(redis.hasKey("orders:open")));
            assertThat(redis.opsForList().range("invoices:sent", 0, -1))
                    .hasSize(ORDERS)
                    .doesNotHaveDuplicates();
        }
    }

    private static ConfigurableApplicationContext start(RedisServer server) {
        return SpringApplication.run(
                Shop.class,
                "--spring.main.banner-mode=off",
                "--logging.level.root=warn",
                "--spring.data.redis.url=" + server.uri(),
                "--invoices.every=100ms",
                "--invoices.at-least=50ms");
    }
}
