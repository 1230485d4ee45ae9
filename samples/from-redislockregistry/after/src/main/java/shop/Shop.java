package shop;

import io.holdfast.LockClient;
import io.holdfast.spring.integration.HoldfastLockRegistry;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

@SpringBootApplication
public class Shop {

    public static void main(String[] args) {
        SpringApplication.run(Shop.class, args);
    }

    @Bean
    HoldfastLockRegistry lockRegistry(LockClient locks) {
        return new HoldfastLockRegistry(locks, "shop");
    }
}
