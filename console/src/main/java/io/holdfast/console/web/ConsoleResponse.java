package io.holdfast.console.web;

import java.util.Map;
import java.util.Optional;

/**
 * The answer to a request.
 *
 * @param status of HTTP
 * @param headers all of them, but those that a server sets itself
 * @param body in UTF-8; empty if events follow
 * @param events a stream that the adapter sends and closes
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/seeing-locks.md#a-page-for-browsers">
 *     A page for browsers</a>
 */
public record ConsoleResponse(int status, Map<String, String> headers, String body, Optional<EventStream> events) {

    /** Copies the headers. */
    public ConsoleResponse {
        headers = Map.copyOf(headers);
    }
}
