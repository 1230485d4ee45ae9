package io.holdfast.console.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.CardDetail;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.memory.MemoryLockStore;
import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.LockStore;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Requests to the page of a store in memory. */
@Timeout(30)
class ConsoleHandlerTest {

    private static final String ORIGIN = "http://127.0.0.1:8099";
    private static final String EVIL = "<img src=x onerror=alert(1)>";
    private static final int PAGE_MAX = 40_000;

    private final VirtualTime time = new VirtualTime();
    private final MemoryLockStore.Server server = new MemoryLockStore.Server(time);
    private final LockClient holder = client("billing", CardDetail.NAMES);
    private final LockClient viewer = client("viewer", CardDetail.OFF);
    private final ConsoleHandler handler = new ConsoleHandler(viewer, true);
    private final List<LockClient> others = new ArrayList<>();
    private final Map<String, String> headers = new HashMap<>(Map.of("Origin", ORIGIN));

    private LockClient client(String name, CardDetail cards) {
        return LockClient.builder()
                .store(server::connect)
                .timeSource(time)
                .callbackExecutor(Runnable::run)
                .clientName(name)
                .cards(cards)
                .build();
    }

    @AfterEach
    void close() {
        handler.close();
        others.forEach(LockClient::close);
        viewer.close();
        holder.close();
    }

    @Test
    void thePageIsOneSmallFileThatRunsNothingButItsOwnScript() {
        ConsoleResponse page = handler.handle(request("GET", "", Map.of()));
        assertThat(page.status()).isEqualTo(200);
        assertThat(page.body().getBytes(StandardCharsets.UTF_8).length).isLessThan(PAGE_MAX);
        assertThat(page.headers())
                .containsEntry("Content-Type", "text/html;charset=utf-8")
                .containsEntry("X-Content-Type-Options", "nosniff")
                .containsEntry("Referrer-Policy", "no-referrer")
                .containsEntry("Cache-Control", "no-store");
        assertThat(page.headers().get("Content-Security-Policy"))
                .contains("default-src 'none'; ", "frame-ancestors 'none'", "connect-src 'self'")
                .containsPattern("script-src 'sha256-[^ ]{44}'; style-src 'sha256-[^ ]{44}'; ")
                .doesNotContain("unsafe", "http:", "https:", "*");
        // Nothing that the policy would refuse, and no way for a text to become HTML.
        assertThat(page.body())
                .doesNotContainPattern("\\s(style|on\\w+)=\"")
                .doesNotContainPattern("(src|href)=\"?http")
                .doesNotContain("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(");
    }

    @Test
    void eachAnswerHasTheHeadersAndNoneIsGivenToAWrongMethodOrPath() {
        for (ConsoleResponse refused : List.of(
                handler.handle(request("POST", "", Map.of())),
                handler.handle(request("DELETE", "/events", Map.of())),
                handler.handle(request("GET", "/release", Map.of())),
                handler.handle(request("GET", "/../etc", Map.of())))) {
            assertThat(refused.status()).isIn(404, 405);
            assertThat(refused.headers())
                    .containsKeys("Content-Security-Policy", "X-Content-Type-Options", "Cache-Control");
        }
        assertThat(handler.handle(request("GET", "/events", Map.of("lock", "x".repeat(2_000))))
                        .status())
                .isEqualTo(400);
        assertThat(handler.handle(request("GET", "/events", Map.of("filter", "x".repeat(2_000))))
                        .status())
                .isEqualTo(400);
    }

    /** The page has the 200 most urgent locks, and a person looks for another one. */
    @Test
    void aFilterFindsALockThatIsNotUrgent() throws InterruptedException {
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            LockClient each = client("worker" + i, CardDetail.NAMES);
            others.add(each);
            for (int j = 0; j < 60; j++) {
                leases.add(each.tryAcquire("order:" + (100 * i + j)).orElseThrow());
            }
            time.advance(Duration.ofMillis(100));
        }
        time.advance(Duration.ofSeconds(20)); // so that they are not the busiest of late, either
        try (EventStream events = events(Map.of())) {
            events.next();
            assertThat(events.next()).contains("\"lockCount\":300").doesNotContain("\"name\":\"order:459\"");
        }
        try (EventStream events = events(Map.of("filter", "ORDER:459"))) {
            events.next();
            String picture = events.next();
            while (picture != null && picture.contains("\"found\":{}")) {
                picture = events.next(); // the one before, for the other browser
            }
            assertThat(picture).contains("\"lockCount\":300", "\"found\":{\"ORDER:459\":1}", "\"name\":\"order:459\"");
        }
        leases.forEach(Lease::release);
    }

    @Test
    void eventsTellWhoHoldsWhatAndNamesOfOthersAreData() throws InterruptedException {
        Lease lease = holder.tryAcquire(EVIL + "\n\nevent: hello\ndata: {}").orElseThrow();
        time.advance(Duration.ofSeconds(8));
        try (EventStream events = events(Map.of("lock", "free"))) {
            assertThat(events.next()).startsWith("event: hello\ndata: {\"store\":\"memory\",");
            String picture = events.next();
            assertThat(picture)
                    .startsWith("event: picture\ndata: {")
                    .endsWith("}\n\n")
                    .contains("\"name\":\"" + EVIL
                            + "\\u000a\\u000aevent: hello\\u000adata: {}\",\"holder\":{\"id\":\"hf-")
                    .contains("\"title\":\"billing@")
                    .contains("\"consequenceOfRelease\":\"The next client that asks gets the lock at once.")
                    .contains("\"name\":\"free\",\"holder\":null")
                    .contains("\"heldCount\":1", "\"clientCount\":1");
            assertThat(picture.strip().lines()).hasSize(2);
        }
        lease.release();
    }

    @Test
    void aReleaseNeedsTheSecretTheOriginAndTheHolderThatTheUserSaw() throws InterruptedException {
        Lease lease = holder.tryAcquire("nightly").orElseThrow();
        String id = viewer.inspect("nightly").holder().orElseThrow();
        Map<String, String> parameters = Map.of("name", "nightly", "holder", id);

        assertRefused(403, "not from the page", parameters);
        headers.put("X-Holdfast-Secret", "guessed");
        assertRefused(403, "not from the page", parameters);

        headers.put("X-Holdfast-Secret", secret(handler));
        headers.put("Origin", "http://127.0.0.1:8100");
        assertRefused(403, "another origin", parameters);
        headers.remove("Origin");
        assertRefused(403, "another origin", parameters);

        headers.put("Origin", ORIGIN);
        assertRefused(400, "needs the parameters", Map.of("name", "nightly"));
        assertRefused(400, "name", Map.of("name", " ", "holder", id));
        assertRefused(409, ": billing@", Map.of("name", "nightly", "holder", "hf-another:1"));
        assertThat(lease.isValid()).isTrue();

        ConsoleResponse released = handler.handle(request("POST", "/release", parameters));
        assertThat(released.body()).isEqualTo("Released");
        assertThat(viewer.inspect("nightly").isLocked()).isFalse();
        assertRefused(409, "it is free now", parameters);
    }

    /** The lock changes hands while the command is on its way to the store, after any look at the holder. */
    @Test
    void aReleaseEndsNoHoldThatBeganMeanwhile() throws InterruptedException {
        Lease seen = holder.tryAcquire("nightly").orElseThrow();
        String id = viewer.inspect("nightly").holder().orElseThrow();
        List<Lease> next = new ArrayList<>();
        Runnable changeHands = () -> {
            seen.release();
            next.add(holder.tryAcquire("nightly").orElseThrow());
        };
        try (LockClient slow = LockClient.builder()
                        .store(context -> beforeForce(server.connect(context), changeHands))
                        .timeSource(time)
                        .build();
                ConsoleHandler page = new ConsoleHandler(slow, true)) {
            headers.put("X-Holdfast-Secret", secret(page));
            ConsoleResponse refused = page.handle(request("POST", "/release", Map.of("name", "nightly", "holder", id)));
            time.advance(Duration.ofMinutes(1));
            assertThat(next.get(0).isValid()).isTrue();
            assertThat(refused.status()).isEqualTo(409);
        }
        next.get(0).release();
    }

    private static LockStore beforeForce(LockStore store, Runnable event) {
        return (LockStore) Proxy.newProxyInstance(
                LockStore.class.getClassLoader(), new Class<?>[] {LockStore.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("forceRelease")) {
                        event.run();
                    }
                    return method.invoke(store, arguments);
                });
    }

    @Test
    void aReadOnlyPageReleasesNothingAndGivesNoSecret() throws InterruptedException {
        Lease lease = holder.tryAcquire("nightly").orElseThrow();
        Map<String, String> parameters = Map.of(
                "name", "nightly", "holder", viewer.inspect("nightly").holder().orElseThrow());
        headers.put("X-Holdfast-Secret", secret(handler));
        try (ConsoleHandler readOnly = new ConsoleHandler(viewer, false)) {
            assertThat(secret(readOnly)).isEmpty();
            ConsoleResponse refused = readOnly.handle(request("POST", "/release", parameters));
            assertThat(refused.status()).isEqualTo(403);
            assertThat(refused.body()).isEqualTo("This page is read-only");
        }
        assertThat(viewer.inspect("nightly").isLocked()).isTrue();
        lease.release();
    }

    @Test
    void aStoreThatFailsIsAnEventAndAnAnswer() throws InterruptedException {
        viewer.close();
        headers.put("X-Holdfast-Secret", secret(handler));
        try (EventStream events = events(Map.of())) {
            assertThat(events.next()).startsWith("event: hello");
            assertThat(events.next())
                    .startsWith("event: failed\ndata: {\"message\":\"")
                    .contains("closed");
        }
        assertRefused(503, "closed", Map.of("name", "nightly", "holder", "hf-1:1"));
    }

    private void assertRefused(int status, String reason, Map<String, String> parameters) {
        ConsoleResponse refused = handler.handle(request("POST", "/release", parameters));
        assertThat(refused.status()).isEqualTo(status);
        assertThat(refused.body()).contains(reason);
    }

    /** Returns the secret as the page gets it; empty if it gets none. */
    private String secret(ConsoleHandler asked) throws InterruptedException {
        try (EventStream events =
                asked.handle(request("GET", "/events", Map.of())).events().orElseThrow()) {
            Matcher matcher = Pattern.compile("\"secret\":\"([\\w-]{32})\"").matcher(String.valueOf(events.next()));
            return matcher.find() ? matcher.group(1) : "";
        }
    }

    private EventStream events(Map<String, String> parameters) {
        return handler.handle(request("GET", "/events", parameters)).events().orElseThrow();
    }

    private ConsoleRequest request(String method, String path, Map<String, String> parameters) {
        return new ConsoleRequest(method, path, parameters, ORIGIN, headers::get);
    }
}
