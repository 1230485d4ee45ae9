package io.holdfast.console.web;

import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A request to the page.
 *
 * @param method in capital letters
 * @param path what follows the address of the page: empty for the page itself, otherwise it begins with a slash
 * @param parameters the parameters of the query, decoded
 * @param origin the scheme, host and port by which the browser reached the page: {@code http://127.0.0.1:8080}
 * @param header returns the value of a header, or null if the request has none of this name
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/seeing-locks.md#a-page-for-browsers">
 *     A page for browsers</a>
 */
public record ConsoleRequest(
        String method,
        String path,
        Map<String, String> parameters,
        String origin,
        Function<String, @Nullable String> header) {

    /** Copies the parameters. */
    public ConsoleRequest {
        parameters = Map.copyOf(parameters);
    }
}
