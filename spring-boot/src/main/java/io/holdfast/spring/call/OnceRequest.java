package io.holdfast.spring.call;

import static java.util.Objects.requireNonNull;

import io.holdfast.spring.IdempotentRequestException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.Principal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.http.HttpEntity;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestPart;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.context.request.ServletRequestAttributes;

/** The key, the compared parts and the answer of the current HTTP request. Loaded only in Spring MVC. */
final class OnceRequest {

    static final String HEADER = "Idempotency-Key";
    static final String REPLAYED = "Idempotent-Replayed";

    private static final int KEY_CHARS = 255;
    private static final int SHOWN_PATH_CHARS = 100;

    private OnceRequest() {}

    private static ServletRequestAttributes current() {
        if (RequestContextHolder.getRequestAttributes() instanceof ServletRequestAttributes servlet) {
            return servlet;
        }
        throw new IllegalStateException("@IdempotentRequest: there is no HTTP request on this thread"
                + " (expected: a call by Spring MVC; @Idempotent for other callers)");
    }

    /**
     * Returns the name of the lock: method and path for people, and a digest of these, of the user and of the header.
     *
     * @throws IdempotentRequestException if there is no header that can be a key
     */
    static String name(String constant) {
        HttpServletRequest request = current().getRequest();
        String scope = request.getMethod() + " " + request.getRequestURI();
        Principal user = request.getUserPrincipal();
        String shown = scope.length() <= SHOWN_PATH_CHARS ? scope : scope.substring(0, SHOWN_PATH_CHARS);
        // A line break is in none of them, so no two requests have one text.
        String whole = scope + "\n" + (user == null ? "" : "user " + user.getName()) + "\n" + key(request);
        return constant + ":" + shown + ":" + digest(whole);
    }

    private static String key(HttpServletRequest request) {
        List<String> headers = Collections.list(request.getHeaders(HEADER));
        String key = headers.size() == 1 ? headers.get(0).strip() : "";
        // The draft has a quoted string; most clients send it without quotes.
        if (key.length() >= 2 && key.startsWith("\"") && key.endsWith("\"")) {
            key = key.substring(1, key.length() - 1);
        }
        if (key.isBlank() || key.length() > KEY_CHARS) {
            throw new IdempotentRequestException(
                    HttpStatus.BAD_REQUEST,
                    "This request needs one header " + HEADER + " with 1 to " + KEY_CHARS
                            + " characters, which is the same in all repetitions of the request.",
                    null);
        }
        return key;
    }

    private static String digest(String text) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java platform has SHA-256", e);
        }
    }

    /** Returns what must be equal in a repetition: the parameters, and each part of the body. The path is in the key. */
    static List<@Nullable Object> compared(Method method, @Nullable Object[] arguments) {
        List<@Nullable Object> compared = new ArrayList<>();
        compared.add(new TreeMap<>(current().getRequest().getParameterMap()));
        Parameter[] parameters = method.getParameters();
        for (int i = 0; i < parameters.length; i++) {
            if (arguments[i] instanceof HttpEntity<?> entity) {
                compared.add(entity.getBody());
            } else if (parameters[i].isAnnotationPresent(RequestBody.class)
                    || parameters[i].isAnnotationPresent(RequestPart.class)) {
                compared.add(arguments[i]);
            }
        }
        return compared;
    }

    static void markReplayed() {
        HttpServletResponse response = current().getResponse();
        if (response != null) {
            response.setHeader(REPLAYED, "true");
        }
    }

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
                HttpStatusCode.valueOf(422), "The " + HEADER + " of this request was used for another request.", cause);
    }

    static RuntimeException running(Exception cause) {
        return new IdempotentRequestException(
                HttpStatus.CONFLICT, "A request with this " + HEADER + " is running. Try again later.", cause);
    }
}
