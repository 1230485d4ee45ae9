package shop;

import io.holdfast.LockClient;
import io.holdfast.spring.shedlock.HoldfastLockProvider;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.scheduling.annotation.EnableScheduling;

@SpringBootApplication
@EnableScheduling
@EnableSchedulerLock(defaultLockAtMostFor = "10m")
public class Shop {

    public static void main(String[] args) {
        SpringApplication.run(Shop.class, args);
    }

    @Bean
    LockProvider lockProvider(LockClient locks) {
        return new HoldfastLockProvider(locks, "job-lock:shop");
    }
}
