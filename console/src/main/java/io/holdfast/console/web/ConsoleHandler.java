package io.holdfast.console.web;

import io.holdfast.ForcedRelease;
import io.holdfast.LockClient;
import io.holdfast.LockException;
import io.holdfast.console.LockWatch;
import io.holdfast.console.json.Json;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Answers the requests of browsers: for the page, for its events, and for a release by force. Knows no HTTP server, and
 * does not decide who may see the page: see {@link LocalAccess}, or the security of an application. Reads the store
 * while a browser listens, every two seconds for all browsers together. Thread-safe.
 *
 * <pre>{@code
 * ConsoleHandler handler = new ConsoleHandler(locks, false);      // false: the page cannot release locks
 * ConsoleResponse page = handler.handle(new ConsoleRequest(
 *         "GET", "", Map.of(), "http://127.0.0.1:8080", exchange.getRequestHeaders()::getFirst));
 * page.headers().forEach(exchange.getResponseHeaders()::set);
 * exchange.sendResponseHeaders(page.status(), 0);
 * exchange.getResponseBody().write(page.body().getBytes(StandardCharsets.UTF_8));
 * }</pre>
 */
public final class ConsoleHandler implements AutoCloseable {

    private static final Duration INTERVAL = Duration.ofSeconds(2);
    private static final Duration SILENCE_MAX = Duration.ofSeconds(10);

    /** The header of a release that carries the secret of the page. Pages of other origins cannot send it. */
    private static final String SECRET = "X-Holdfast-Secret";

    /** As long as the longest lock name. */
    private static final int FILTER_MAX = 1_024;

    private static final int OK = 200;
    private static final int BAD_REQUEST = 400;
    private static final int FORBIDDEN = 403;
    private static final int NOT_FOUND = 404;
    private static final int METHOD_NOT_ALLOWED = 405;
    private static final int CONFLICT = 409;
    private static final int UNAVAILABLE = 503;

    private static final StaticPage PAGE = new StaticPage();

    private final LockClient client;
    private final boolean isReleaseAllowed;
    private final Secret secret = new Secret();
    private final PictureFeed feed;

    /**
     * @param client reads and releases; the caller closes it after the handler
     * @param isReleaseAllowed whether the page can release locks by force
     */
    public ConsoleHandler(LockClient client, boolean isReleaseAllowed) {
        this.client = client;
        this.isReleaseAllowed = isReleaseAllowed;
        this.feed = new PictureFeed(new LockWatch(client)::look, INTERVAL, SILENCE_MAX);
    }

    /** Answers a request. No request makes it throw. */
    public ConsoleResponse handle(ConsoleRequest request) {
        return switch (request.path()) {
            case "" -> isGet(request) ? answer(OK, "text/html;charset=utf-8", PAGE.html()) : wrongMethod();
            case "/events" -> isGet(request) ? events(request) : wrongMethod();
            case "/release" -> request.method().equals("POST") ? release(request) : wrongMethod();
            default -> text(NOT_FOUND, "There is nothing here");
        };
    }

    /** Ends all streams of events. */
    @Override
    public void close() {
        feed.close();
    }

    private static boolean isGet(ConsoleRequest request) {
        return request.method().equals("GET");
    }

    private ConsoleResponse events(ConsoleRequest request) {
        String name = request.parameters().get("lock");
        String filter = request.parameters().get("filter");
        if (filter != null && filter.length() > FILTER_MAX) {
            return text(BAD_REQUEST, "A filter has at most " + FILTER_MAX + " characters");
        }
        try {
            String first = PictureFeed.event(
                    "hello",
                    Json.object(
                            "store", client.describeStore(),
                            "secret", isReleaseAllowed ? secret.text() : null,
                            "intervalMillis", INTERVAL.toMillis()));
            return feed.open(first, name == null ? null : LockClient.checkName(name), filter)
                    .map(stream -> new ConsoleResponse(OK, headers("text/event-stream"), "", Optional.of(stream)))
                    .orElseGet(() -> text(UNAVAILABLE, "Too many pages are open, or this one is being closed"));
        } catch (IllegalArgumentException e) {
            return text(BAD_REQUEST, String.valueOf(e.getMessage()));
        }
    }

    private ConsoleResponse release(ConsoleRequest request) {
        if (!isReleaseAllowed) {
            return text(FORBIDDEN, "This page is read-only");
        }
        if (!secret.is(request.header().apply(SECRET))) {
            return text(FORBIDDEN, "This request is not from the page; reload the page");
        }
        if (!request.origin().equals(request.header().apply("Origin"))) {
            return text(FORBIDDEN, "This request is from a page of another origin");
        }
        String name = request.parameters().get("name");
        String holder = request.parameters().get("holder");
        if (name == null || holder == null) {
            return text(BAD_REQUEST, "A release needs the parameters name and holder");
        }
        try {
            return release(name, holder);
        } catch (IllegalArgumentException e) {
            return text(BAD_REQUEST, String.valueOf(e.getMessage()));
        } catch (LockException e) {
            return text(UNAVAILABLE, String.valueOf(e.getMessage()));
        }
    }

    /** Releases the lock if the holder that the user saw still holds it. */
    private ConsoleResponse release(String name, String seen) {
        ForcedRelease release = client.forceRelease(name, seen);
        return release.isEnded()
                ? text(OK, "Released")
                : text(
                        CONFLICT,
                        "Not released, because the holder has changed: "
                                + release.holderTitle()
                                        .map(title -> title + " holds it now")
                                        .orElse("it is free now"));
    }

    private static ConsoleResponse wrongMethod() {
        return text(METHOD_NOT_ALLOWED, "This method is not known here");
    }

    private static ConsoleResponse text(int status, String sentence) {
        return answer(status, "text/plain;charset=utf-8", sentence);
    }

    private static ConsoleResponse answer(int status, String type, String body) {
        return new ConsoleResponse(status, headers(type), body, Optional.empty());
    }

    /** Returns the headers of each answer, even of one that an adapter gives without a handler. */
    public static Map<String, String> headers(String type) {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("Content-Type", type);
        headers.put("Content-Security-Policy", PAGE.policy());
        headers.put("X-Content-Type-Options", "nosniff");
        headers.put("X-Frame-Options", "DENY");
        headers.put("Referrer-Policy", "no-referrer");
        headers.put("Cross-Origin-Resource-Policy", "same-origin");
        headers.put("Cache-Control", "no-store");
        return headers;
    }
}
