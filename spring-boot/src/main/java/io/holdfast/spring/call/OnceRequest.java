package io.holdfast.spring.call;

import io.holdfast.spring.IdempotentRequestException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodParameter;
import org.springframework.core.annotation.AnnotatedMethod;
import org.springframework.http.HttpEntity;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestPart;

/**
 * An HTTP request whose work is done once: its key, and what must be equal in a repetition. Loaded only with Spring Web.
 *
 * @param user the name of the principal; null: none
 * @param keys the values of the header
 * @param parameters of the query and of a form, each a list or an array of texts
 * @param replayed marks the answer as a stored one
 */
record OnceRequest(
        String method,
        String path,
        @Nullable String user,
        List<String> keys,
        Map<String, ?> parameters,
        Runnable replayed) {

    static final String HEADER = "Idempotency-Key";
    static final String REPLAYED = "Idempotent-Replayed";

    private static final int KEY_CHARS = 255;
    private static final int SHOWN_PATH_CHARS = 100;

    /**
     * Returns the name of the lock: method and path for people, and a digest of these, of the user and of the header.
     *
     * @throws IdempotentRequestException if there is no header that can be a key
     */
    String name(String constant) {
        String scope = method + " " + path;
        String shown = scope.length() <= SHOWN_PATH_CHARS ? scope : scope.substring(0, SHOWN_PATH_CHARS);
        // A line break is in none of them, so no two requests have one text.
        String whole = scope + "\n" + (user == null ? "" : "user " + user) + "\n" + key();
        return constant + ":" + shown + ":" + digest(whole);
    }

    private String key() {
        String key = keys.size() == 1 ? keys.get(0).strip() : "";
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
    List<@Nullable Object> compared(Method method, @Nullable Object[] arguments) {
        List<@Nullable Object> compared = new ArrayList<>();
        compared.add(new TreeMap<>(parameters));
        for (MethodParameter parameter : parameters(method)) {
            Object argument = arguments[parameter.getParameterIndex()];
            if (argument instanceof HttpEntity<?> entity) {
                compared.add(entity.getBody());
            } else if (isBody(parameter) || parameter.hasParameterAnnotation(RequestPart.class)) {
                compared.add(argument);
            }
        }
        return compared;
    }

    /** Returns whether Spring reads the whole body of the request for a parameter. */
    static boolean hasBody(Method method) {
        return Arrays.stream(parameters(method)).anyMatch(OnceRequest::isBody);
    }

    private static boolean isBody(MethodParameter parameter) {
        return parameter.hasParameterAnnotation(RequestBody.class)
                || HttpEntity.class.isAssignableFrom(parameter.getParameterType());
    }

    /** Returns the parameters with their annotations, also those of an interface that the controller implements. */
    private static MethodParameter[] parameters(Method method) {
        return new AnnotatedMethod(method).getMethodParameters();
    }
}
