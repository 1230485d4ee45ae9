package io.holdfast.spring;

import java.net.URI;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;
import org.springframework.web.ErrorResponseException;

/**
 * Refuses a request to a method with {@link IdempotentRequest}, as a problem detail. The status is 400 without a usable
 * header, 409 while a request with the key runs, and 422 if the key was used for another request. Spring Boot answers
 * it, unless a handler of the application does.
 *
 * <pre>{@code
 * @ExceptionHandler
 * ResponseEntity<?> refused(IdempotentRequestException e) {
 *     return ResponseEntity.status(e.getStatusCode()).body(Map.of("code", "TWICE"));
 * }
 * }</pre>
 */
public final class IdempotentRequestException extends ErrorResponseException {

    private static final long serialVersionUID = 1;

    private static final URI PAGE =
            URI.create("https://github.com/holdfast-lock/holdfast/blob/main/docs/idempotent.md#requests");

    /** Creates an exception; the detail is for the client. */
    public IdempotentRequestException(HttpStatusCode status, String detail, @Nullable Throwable cause) {
        super(status, problem(status, detail), cause);
    }

    private static ProblemDetail problem(HttpStatusCode status, String detail) {
        ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, detail);
        problem.setType(PAGE);
        return problem;
    }
}
