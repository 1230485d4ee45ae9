package io.holdfast.samples.start;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.holdfast.Lease;
import io.holdfast.LockTimeoutException;
import io.holdfast.spring.test.LockTester;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

@SpringBootTest
class OrdersTest {

    @Autowired
    Orders orders;

    @Autowired
    LockTester locks;

    @Test
    void an_order_waits_for_another_instance() {
        Lease elsewhere = locks.holdElsewhere("order.refund:42");
        assertThrows(LockTimeoutException.class, () -> orders.refund(42));
        elsewhere.release();
        assertEquals("refunded 42", orders.refund(42));
        locks.assertFree("order.refund:42");
    }
}
