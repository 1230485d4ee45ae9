package shop;

import io.holdfast.spring.LockFailureHandler;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

@SpringBootApplication
public class Shop {

    public static void main(String[] args) {
        SpringApplication.run(Shop.class, args);
    }

    @Bean
    LockFailureHandler busy() {
        return (method, arguments, failure) -> {
            throw new BusyException(method.getName());
        };
    }
}
