package io.holdfast.samples.start;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.junit.jupiter.Container;
import org.testcontainers.junit.jupiter.Testcontainers;

@SpringBootTest(properties = "holdfast.test.enabled=false") // not the store in memory
@Testcontainers(disabledWithoutDocker = true)
class OrdersOnRedisTest {

    @Container
    @ServiceConnection(name = "redis")
    static final GenericContainer<?> REDIS = new GenericContainer<>("redis:8").withExposedPorts(6379);

    @Autowired
    Orders orders;

    @Test
    void an_order_is_refunded() {
        assertEquals("refunded 42", orders.refund(42));
    }
}
