package shop;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.servers.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** Two instances of the application, one Redis, and more buyers than articles. */
class StockTest {

    private static final int BUYERS = 16;

    @Test
    void each_article_is_sold_once() throws Exception {
        try (RedisServer server = RedisServer.start();
                ConfigurableApplicationContext one = start(server);
                ConfigurableApplicationContext other = start(server)) {
            List<Stock> instances = List.of(one.getBean(Stock.class), other.getBean(Stock.class));
            instances.get(0).restock("lamp", 1);
            instances.get(1).restock("lamp", BUYERS / 2 - 1);

            ExecutorService buyers = Executors.newFixedThreadPool(BUYERS);
            try {
                List<Future<Boolean>> sales = new ArrayList<>();
                for (int buyer = 0; buyer < BUYERS; buyer++) {
                    Stock instance = instances.get(buyer % 2);
                    sales.add(buyers.submit(() -> instance.sell("lamp")));
                }
                int sold = 0;
                for (Future<Boolean> sale : sales) {
                    sold += sale.get() ? 1 : 0;
                }
                assertThat(sold).isEqualTo(BUYERS / 2);
                assertThat(instances.get(0).left("lamp")).isZero();
            } finally {
                buyers.shutdownNow();
            }
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
