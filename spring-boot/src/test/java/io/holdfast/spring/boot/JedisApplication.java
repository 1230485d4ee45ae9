package io.holdfast.spring.boot;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;

/** Run by {@link JedisTest} in a JVM without Lettuce. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
class JedisApplication {

    public static void main(String[] args) {
        SpringApplication.run(JedisApplication.class, args);
    }
}
