package io.holdfast.spring.once;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.jdbc.JdbcOnce;
import io.holdfast.spring.IdempotentRequest;
import io.holdfast.spring.Locked;
import io.holdfast.spring.OnceRecord;
import java.net.URI;
import java.security.Principal;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.ResponseEntity;
import org.springframework.http.client.ReactorResourceFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.WebFilter;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.netty.resources.LoopResources;

/** A WebFlux application on one event loop, which stands still if anybody waits on it. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import({OnceContexts.Transactions.class, ExchangeApplication.Controller.class})
class ExchangeApplication {

    static final AtomicInteger RUNS = new AtomicInteger();
    static final AtomicInteger INSIDE = new AtomicInteger();
    static volatile CountDownLatch begun = new CountDownLatch(1);
    static volatile CompletableFuture<Boolean> gate = new CompletableFuture<>();
    static volatile CompletableFuture<Boolean> left = new CompletableFuture<>();
    static volatile CountDownLatch gone = new CountDownLatch(1);

    record Payment(String id, int amount) {}

    record Receipt(int number, String id) {}

    /** As a generator of code writes it: the annotations are here alone. */
    interface Generated {

        @PostMapping("/generated")
        Mono<Receipt> generated(@RequestBody Payment payment);
    }

    @RestController
    static class Controller implements Generated {

        private final JdbcTemplate jdbc;
        private final LockClient locks;

        Controller(JdbcTemplate jdbc, LockClient locks) {
            this.jdbc = jdbc;
            this.locks = locks;
        }

        private Receipt effect(Payment payment) {
            assertThat(Schedulers.isInNonBlockingThread()).isFalse();
            jdbc.update("INSERT INTO effects VALUES (?)", payment.id());
            return new Receipt(RUNS.incrementAndGet(), payment.id());
        }

        private static ResponseEntity<Receipt> created(Receipt receipt) {
            return ResponseEntity.created(URI.create("/payments/" + receipt.number()))
                    .header("Set-Cookie", "a=b")
                    .body(receipt);
        }

        private static boolean await() throws Exception {
            begun.countDown();
            return gate.get(60, TimeUnit.SECONDS);
        }

        @PostMapping("/payments")
        @IdempotentRequest(waitTime = "30s")
        Mono<ResponseEntity<Receipt>> pay(@RequestBody Payment payment) {
            return Mono.fromCallable(() -> created(effect(payment)));
        }

        @PostMapping("/stored")
        @IdempotentRequest(waitTime = "30s", record = OnceRecord.STORE_AT_LEAST_ONCE)
        Mono<ResponseEntity<Receipt>> stored(@RequestBody Payment payment) {
            return Mono.delay(Duration.ofMillis(20))
                    .map(tick -> created(new Receipt(RUNS.incrementAndGet(), payment.id())));
        }

        @Override
        @IdempotentRequest
        public Mono<Receipt> generated(Payment payment) {
            return Mono.fromCallable(() -> effect(payment));
        }

        @PostMapping("/form")
        @IdempotentRequest
        Mono<Receipt> form(Payment payment) {
            return Mono.fromCallable(() -> effect(payment));
        }

        @PostMapping("/user")
        @IdempotentRequest
        Mono<String> user(Principal user, @RequestBody Payment payment) {
            return Mono.fromCallable(() -> user.getName() + effect(payment).number());
        }

        /** Blocks the thread that it has. */
        @PostMapping("/slow-payments")
        @IdempotentRequest
        Mono<Receipt> slow(@RequestBody Payment payment) {
            return Mono.fromCallable(() -> await() ? effect(payment) : new Receipt(0, ""));
        }

        @PostMapping("/slow-stored")
        @IdempotentRequest(record = OnceRecord.STORE_AT_LEAST_ONCE)
        Mono<Receipt> slowStored(@RequestBody Payment payment) {
            return Mono.fromRunnable(begun::countDown)
                    .then(Mono.fromFuture(() -> gate, true))
                    .map(open -> new Receipt(RUNS.incrementAndGet(), payment.id()));
        }

        /** The amount is what goes wrong in the first run. */
        @PostMapping("/failing-payments")
        @IdempotentRequest
        Mono<ResponseEntity<Receipt>> failing(@RequestBody Payment payment) {
            return Mono.fromCallable(() -> failed(effect(payment), payment.amount()));
        }

        @PostMapping("/failing-stored")
        @IdempotentRequest(record = OnceRecord.STORE_AT_LEAST_ONCE)
        Mono<ResponseEntity<Receipt>> failingStored(@RequestBody Payment payment) {
            return Mono.delay(Duration.ofMillis(1))
                    .map(tick -> failed(new Receipt(RUNS.incrementAndGet(), payment.id()), payment.amount()));
        }

        private ResponseEntity<Receipt> failed(Receipt receipt, int how) {
            if (receipt.number() == 1 && how == 503) {
                return ResponseEntity.status(503).body(receipt);
            }
            if (receipt.number() == 1) {
                throw new IllegalStateException("the first run fails");
            }
            return ResponseEntity.ok(receipt);
        }

        @PostMapping("/losing")
        @IdempotentRequest
        Mono<Receipt> losing(@RequestBody Payment payment) {
            return Mono.fromCallable(() -> {
                Receipt receipt = effect(payment);
                if (receipt.number() == 1) {
                    locks.localLocks().forEach(each -> locks.forceRelease(each.name()));
                }
                return receipt;
            });
        }

        @PostMapping("/elsewhere")
        @IdempotentRequest
        Mono<Receipt> elsewhere(@RequestBody Payment payment) {
            return Mono.fromCallable(() -> effect(payment)).subscribeOn(Schedulers.boundedElastic());
        }

        @PostMapping("/locked")
        @Locked(name = "locked", key = "#payment.id", waitTime = "30s")
        Mono<Integer> locked(@RequestBody Payment payment) {
            return Mono.fromCallable(INSIDE::incrementAndGet)
                    .delayElement(Duration.ofMillis(50))
                    .doOnNext(inside -> INSIDE.decrementAndGet());
        }

        @PostMapping("/impatient")
        @Locked(name = "locked", key = "#payment.id", waitTime = "0")
        Mono<String> impatient(@RequestBody Payment payment) {
            return Mono.just("ran");
        }
    }

    /** Names the user as an authentication does: in an exchange of its own. */
    @Bean
    WebFilter users() {
        return (exchange, chain) -> {
            String user = exchange.getRequest().getHeaders().getFirst("User");
            return chain.filter(
                    user == null
                            ? exchange
                            : exchange.mutate().principal(Mono.just(() -> user)).build());
        };
    }

    /** Cancels an exchange whose client has left, as a server does that notices it. */
    @Bean
    WebFilter leaving() {
        return (exchange, chain) -> {
            Mono<Void> answer = chain.filter(exchange).doOnCancel(() -> gone.countDown());
            return exchange.getRequest().getHeaders().getFirst("Leaves") == null
                    ? answer
                    : answer.takeUntilOther(Mono.fromFuture(left, true));
        };
    }

    @Bean
    ReactorResourceFactory reactorResourceFactory() {
        ReactorResourceFactory one = new ReactorResourceFactory();
        one.setUseGlobalResources(false);
        one.setLoopResourcesSupplier(() -> LoopResources.create("only-loop", 1, true));
        return one;
    }

    @Bean
    DataSource dataSource() throws SQLException {
        JdbcDataSource source = new JdbcDataSource();
        source.setURL("jdbc:h2:mem:exchanges;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=20000");
        try (var connection = source.getConnection();
                var statement = connection.createStatement()) {
            JdbcOnce.defaults().createTable(connection);
            statement.execute("CREATE TABLE IF NOT EXISTS effects (id VARCHAR(100) NOT NULL)");
        }
        return source;
    }
}
