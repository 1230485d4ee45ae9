package io.holdfast.console.web;

import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Decides who may see a page that is served on the loopback address: browsers that know the random token in its URL. A
 * page of another site cannot read it by a name that it resolves to this address, because the host is checked.
 *
 * <pre>{@code
 * LocalAccess access = new LocalAccess(8080);
 * System.out.println(access.url());      // http://127.0.0.1:8080/ and the token
 *
 * Optional<String> path = access.path(exchange.getRequestURI().getPath());
 * if (path.isEmpty() || !access.isOwnHost(exchange.getRequestHeaders().getFirst("Host"))) {
 *     exchange.sendResponseHeaders(403, -1);
 * }
 * }</pre>
 */
public final class LocalAccess {

    private final Secret token = new Secret();
    private final Set<String> hosts;
    private final int port;

    /** Makes a new token. */
    public LocalAccess(int port) {
        this.port = port;
        this.hosts = Set.of("127.0.0.1:" + port, "localhost:" + port);
    }

    /** Returns the URL of the page. It contains the token. */
    public String url() {
        return "http://127.0.0.1:" + port + "/" + token.text();
    }

    /** Returns whether this is the value of the header {@code Host} of a browser that was sent to this address. */
    public boolean isOwnHost(@Nullable String host) {
        return host != null && hosts.contains(host);
    }

    /**
     * Returns what follows the token, as {@link ConsoleRequest#path} has it; empty if this is not the token.
     *
     * @param path the whole path
     */
    public Optional<String> path(String path) {
        int end = path.indexOf('/', 1);
        String given = path.substring(Math.min(1, path.length()), end < 0 ? path.length() : end);
        if (!token.is(given)) {
            return Optional.empty();
        }
        return Optional.of(end < 0 || end == path.length() - 1 ? "" : path.substring(end));
    }
}
