package shop;

import com.baomidou.lock.LockFailureStrategy;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

@SpringBootApplication
public class Shop {

    public static void main(String[] args) {
        SpringApplication.run(Shop.class, args);
    }

    @Bean
    LockFailureStrategy busy() {
        return (key, method, arguments) -> {
            throw new BusyException(method.getName());
        };
    }
}
