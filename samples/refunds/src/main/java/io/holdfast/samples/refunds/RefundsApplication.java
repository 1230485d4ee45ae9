package io.holdfast.samples.refunds;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** The sample application. Start several instances, on several ports. */
@SpringBootApplication(proxyBeanMethods = false)
public class RefundsApplication {

    /** For Spring. */
    public RefundsApplication() {}

    /** Takes Boot's arguments, for example {@code --server.port=8081 --spring.data.redis.port=6379}. */
    public static void main(String[] args) {
        SpringApplication.run(RefundsApplication.class, args);
    }
}
