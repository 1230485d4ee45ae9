package io.holdfast.samples.start;

import io.holdfast.spring.Locked;
import org.springframework.stereotype.Service;

@Service
public class Orders {

    @Locked(name = "order.refund", key = "#orderId", waitTime = "2s")
    public String refund(long orderId) {
        return "refunded " + orderId;
    }
}
