package orders;

import io.holdfast.spring.Locked;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** Refunds an order once, however many callers ask. */
@Service
public class Refunds {

    private final JdbcTemplate jdbc;

    Refunds(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    /** Returns how many holders the lock of the order has while it is refunded. */
    @Locked(name = "order.refund", key = "#order")
    @Transactional
    public int refund(long order) {
        Integer refunds = jdbc.queryForObject("SELECT COUNT(*) FROM refund WHERE order_id = ?", Integer.class, order);
        if (refunds != null && refunds == 0) {
            jdbc.update("INSERT INTO refund (order_id) VALUES (?)", order);
        }
        Integer holders = jdbc.queryForObject(
                "SELECT COUNT(*) FROM holdfast_lock WHERE name = ? AND holder <> ''",
                Integer.class,
                "order.refund:" + order);
        return holders == null ? 0 : holders;
    }
}
