package io.holdfast.spring.web;

import io.holdfast.LockException;
import io.holdfast.LockTimeoutException;
import io.holdfast.OnceConflictException;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.Names;
import java.time.Duration;
import java.util.Locale;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.springframework.context.MessageSource;
import org.springframework.context.MessageSourceAware;
import org.springframework.context.support.StaticMessageSource;
import org.springframework.core.Ordered;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RequestAttribute;

/**
 * Answers requests that fail with a {@link LockException} or an {@link OnceConflictException}, as problem details (RFC
 * 9457), in Spring MVC and WebFlux. A busy lock is answered with 409, or the status of {@code holdfast.web.busy-status}. A
 * fault of the store, a lost lease or a closed client is answered with 503 and {@code Retry-After}. A key that was used
 * for other work is answered with 422. The answers contain no lock names and no addresses.
 *
 * <p>Titles and details come from the {@link MessageSource}, by the codes that Spring uses for its own exceptions:
 * {@code problemDetail.title.} and {@code problemDetail.}, each followed by the name of the exception's class, for
 * example {@code problemDetail.io.holdfast.LockTimeoutException}.
 *
 * <pre>{@code
 * problemDetail.title.io.holdfast.LockTimeoutException=Busy
 * problemDetail.io.holdfast.LockTimeoutException=Somebody else changes this order. Try again in a minute.
 * problemDetail.io.holdfast.LockStoreException=Orders cannot be changed at the moment.
 * }</pre>
 *
 * <p>Spring Boot declares it in web applications, unless there is a bean of this type or {@code
 * holdfast.web.enabled=false}. It is last among the advices, so a handler of the application, even one for {@link
 * Exception}, comes first; {@code holdfast.web.order} changes that. Thread-safe.
 */
@ControllerAdvice
public class LockExceptionAdvice implements Ordered, MessageSourceAware {

    private static final System.Logger LOG = System.getLogger(LockExceptionAdvice.class.getName());

    /** Its constant has one name in Spring 6 and another one in Spring 7. */
    private static final HttpStatusCode UNPROCESSABLE = HttpStatusCode.valueOf(422);

    // The parameters with it are of the type String, because Spring passes the exception for an Object.
    private static final String PATH = ".pathWithinHandlerMapping";

    /** An outage fails each request: that many lines would hide all others. */
    private final LineBudget lines = new LineBudget();

    private final HttpStatusCode busyStatus;
    private final Duration retryAfter;
    private final int order;
    private final LongSupplier nanoTime;
    private volatile MessageSource messages = new StaticMessageSource();

    /**
     * Creates an advice.
     *
     * @param busyStatus the status of a busy lock
     * @param retryAfter the time after which the caller may try again; sent as whole seconds, at least one
     * @param order the place among the advices; smaller numbers are asked first
     * @throws IllegalArgumentException if the status is not in 400 … 599, or the time is negative
     */
    public LockExceptionAdvice(int busyStatus, Duration retryAfter, int order) {
        this(busyStatus, retryAfter, order, System::nanoTime);
    }

    LockExceptionAdvice(int busyStatus, Duration retryAfter, int order, LongSupplier nanoTime) {
        if (busyStatus < 400 || busyStatus > 599) {
            throw new IllegalArgumentException(
                    "holdfast.web.busy-status: " + busyStatus + " (expected: a status of an error, 400 to 599)");
        }
        if (retryAfter.isNegative()) {
            throw new IllegalArgumentException("holdfast.web.retry-after: " + DurationText.of(retryAfter)
                    + " (expected: not negative, for example 5s)");
        }
        this.busyStatus = HttpStatusCode.valueOf(busyStatus);
        this.retryAfter = retryAfter;
        this.order = order;
        this.nanoTime = nanoTime;
    }

    @Override
    public void setMessageSource(MessageSource messages) {
        this.messages = messages;
    }

    @Override
    public int getOrder() {
        return order;
    }

    /** Answers a request that did not get its lock in time. */
    @ExceptionHandler
    public ErrorResponse busy(LockTimeoutException e, Locale locale) {
        LOG.log(System.Logger.Level.DEBUG, e::getMessage);
        return answer(e, busyStatus, "Another request is working on the same. Try again later.", locale);
    }

    /** Answers a request whose key was used for other work that is done once. */
    @ExceptionHandler
    public ErrorResponse otherWork(OnceConflictException e, Locale locale) {
        LOG.log(System.Logger.Level.DEBUG, e::getMessage);
        return answer(e, UNPROCESSABLE, "The key of this request was used for a request with other contents.", locale);
    }

    /** Answers a request whose lock could not be asked for, or was lost while the request was served. */
    @ExceptionHandler
    public ErrorResponse fault(
            LockException e,
            HttpMethod method,
            @RequestAttribute(name = "org.springframework.web.servlet.HandlerMapping" + PATH, required = false)
                    @Nullable
                    String servletPath,
            @RequestAttribute(name = "org.springframework.web.reactive.HandlerMapping" + PATH, required = false)
                    @Nullable
                    String reactivePath,
            Locale locale) {
        String path = servletPath != null ? servletPath : reactivePath;
        // One line: the exception was thrown by a store or a lease, and the stack of the request explains neither.
        long others = lines.admit(nanoTime.getAsLong());
        if (others >= 0) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "A request was answered with 503: " + method
                            + (path == null ? "" : " " + Names.printable(path)) + ": " + e
                            + (others == 0 ? "" : " (and " + others + " more since the line before)"));
        }
        return answer(
                e,
                HttpStatus.SERVICE_UNAVAILABLE,
                "The request could not be completed safely. Try again later.",
                locale);
    }

    private ErrorResponse answer(Exception e, HttpStatusCode status, String detail, Locale locale) {
        ErrorResponse.Builder answer = ErrorResponse.builder(e, status, detail);
        if (status.value() == HttpStatus.SERVICE_UNAVAILABLE.value()
                || status.value() == HttpStatus.TOO_MANY_REQUESTS.value()) {
            long seconds = retryAfter.plusMillis(999).toSeconds();
            answer.header(HttpHeaders.RETRY_AFTER, Long.toString(Math.max(1, seconds)));
        }
        return answer.build(messages, locale);
    }
}
