package shop;

import java.util.Set;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** Sends an invoice for each open order, every few minutes, on one of the instances. */
@Component
public class Invoices {

    private final StringRedisTemplate redis;

    Invoices(StringRedisTemplate redis) {
        this.redis = redis;
    }

    @Scheduled(fixedRateString = "${invoices.every:5m}")
    @SchedulerLock(name = "invoices", lockAtMostFor = "5m", lockAtLeastFor = "${invoices.at-least:10s}")
    public void send() throws InterruptedException {
        Set<String> open = redis.opsForSet().members("orders:open");
        for (String order : open) {
            Thread.sleep(10); // the mail server
            redis.opsForList().rightPush("invoices:sent", order);
            redis.opsForSet().remove("orders:open", order);
        }
    }
}
