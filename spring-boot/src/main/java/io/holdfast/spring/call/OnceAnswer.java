package io.holdfast.spring.call;

import static java.util.Objects.requireNonNull;

import io.holdfast.spring.IdempotentRequestException;
import java.lang.reflect.Type;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.http.HttpEntity;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ResponseEntity;

/** The answer to a request whose work is done once: as it is stored, or why there is none. Loaded only with Spring Web. */
final class OnceAnswer {

    private OnceAnswer() {}

    /** Returns whether the answer says that the server failed, so that a repetition should do the work. */
    static boolean isFailure(@Nullable Object result) {
        return result instanceof ResponseEntity<?> entity
                && entity.getStatusCode().is5xxServerError();
    }

    static boolean isEntity(Class<?> type) {
        return HttpEntity.class.isAssignableFrom(type);
    }

    static Type bodyType(Type entity) {
        return ResolvableType.forType(entity).as(HttpEntity.class).getGeneric(0).getType();
    }

    static String write(OnceJson json, Object result, Type bodyType) {
        HttpEntity<?> entity = (HttpEntity<?>) result;
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put(
                "status",
                entity instanceof ResponseEntity<?> response
                        ? response.getStatusCode().value()
                        : 200);
        Map<String, List<String>> headers = new LinkedHashMap<>();
        entity.getHeaders().forEach((name, values) -> {
            if (!name.equalsIgnoreCase(HttpHeaders.SET_COOKIE)) {
                headers.put(name, List.copyOf(values));
            }
        });
        answer.put("headers", headers);
        if (entity.getBody() != null) {
            answer.put("body", json.write(entity.getBody(), bodyType));
        }
        return json.write(answer, Map.class);
    }

    static ResponseEntity<?> read(OnceJson json, String stored, Type bodyType) {
        Map<?, ?> answer = (Map<?, ?>) requireNonNull(json.read(stored, Map.class));
        Map<?, ?> headers = (Map<?, ?>) requireNonNull(answer.get("headers"));
        Object body = answer.get("body") instanceof String text ? json.read(text, bodyType) : null;
        int status = ((Number) requireNonNull(answer.get("status"))).intValue();
        // By the builder: the constructors of Spring Framework 7 are others than those of 6.
        return ResponseEntity.status(status)
                .headers(all -> headers.forEach(
                        (name, values) -> ((List<?>) values).forEach(value -> all.add((String) name, (String) value))))
                .body(body);
    }

    // Both return a general type: by the type of an exception of Spring Web, the verifier would load it with each
    // caller.

    static RuntimeException conflict(Exception cause) {
        return new IdempotentRequestException(
                HttpStatusCode.valueOf(422),
                "The " + OnceRequest.HEADER + " of this request was used for another request.",
                cause);
    }

    static RuntimeException running(Exception cause) {
        return new IdempotentRequestException(
                HttpStatus.CONFLICT,
                "A request with this " + OnceRequest.HEADER + " is running. Try again later.",
                cause);
    }
}
