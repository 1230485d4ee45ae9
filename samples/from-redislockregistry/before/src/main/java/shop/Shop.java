package shop;

import java.time.Duration;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;

@SpringBootApplication
public class Shop {

    public static void main(String[] args) {
        SpringApplication.run(Shop.class, args);
    }

    @Bean
    RedisLockRegistry lockRegistry(RedisConnectionFactory connections) {
        return new RedisLockRegistry(connections, "shop", Duration.ofSeconds(30));
    }
}
