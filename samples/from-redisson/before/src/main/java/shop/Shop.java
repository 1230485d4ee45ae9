package shop;

import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

@SpringBootApplication
public class Shop {

    public static void main(String[] args) {
        SpringApplication.run(Shop.class, args);
    }

    @Bean(destroyMethod = "shutdown")
    RedissonClient redisson(@Value("${spring.data.redis.url}") String url) {
        Config config = new Config();
        config.setLockWatchdogTimeout(30_000);
        config.useSingleServer().setAddress(url);
        return Redisson.create(config);
    }
}
