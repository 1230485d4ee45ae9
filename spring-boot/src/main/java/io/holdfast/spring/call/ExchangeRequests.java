package io.holdfast.spring.call;

import static java.util.Objects.requireNonNull;

import java.lang.reflect.Method;
import java.security.Principal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.http.codec.multipart.FormFieldPart;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** The HTTP requests of WebFlux, which Reactor's context has. Loaded only in WebFlux. */
final class ExchangeRequests {

    /** A call whose request is known. */
    interface Inner {
        @Nullable
        Object hold(MethodInvocation invocation, OnceRequest request) throws Throwable;
    }

    private ExchangeRequests() {}

    /**
     * Returns a call of the method for each subscription. As in Spring MVC, a client that goes away does not end it: the
     * work runs to its end, and a repetition receives the answer.
     */
    static Mono<Object> call(MethodInvocation invocation, Method method, Inner inner) {
        return Mono.deferContextual(context -> {
            ServerWebExchange exchange = ExchangeFilter.exchange(context);
            if (exchange == null) {
                return Mono.error(
                        new IllegalStateException("@IdempotentRequest: there is no HTTP request in Reactor's context"
                                + " (expected: a call by WebFlux; @Idempotent for other callers)"));
            }
            Mono<Object> answer = request(exchange, method).flatMap(request -> held(invocation, request, inner));
            return Mono.fromFuture(answer.contextWrite(context).toFuture(), true);
        });
    }

    @SuppressWarnings("unchecked")
    private static Mono<Object> held(MethodInvocation invocation, OnceRequest request, Inner inner) {
        try {
            return Mono.from((Publisher<Object>) requireNonNull(inner.hold(LockedCall.later(invocation), request)));
        } catch (Throwable e) {
            return Mono.error(e);
        }
    }

    private static Mono<OnceRequest> request(ServerWebExchange exchange, Method method) {
        ServerHttpRequest request = exchange.getRequest();
        List<String> keys = new ArrayList<>();
        // Not by get: its signature is another one in Spring Framework 6.
        request.getHeaders().forEach((name, values) -> {
            if (name.equalsIgnoreCase(OnceRequest.HEADER)) {
                keys.addAll(values);
            }
        });
        Mono<Optional<String>> user = exchange.getPrincipal()
                .map(Principal::getName)
                .map(Optional::of)
                .defaultIfEmpty(Optional.empty());
        // What the controller reads for a parameter, nobody can read again.
        Mono<Map<String, List<String>>> form = OnceRequest.hasBody(method) ? Mono.just(Map.of()) : form(exchange);
        return Mono.zip(user, form, (name, fields) -> {
            Map<String, List<String>> parameters = new TreeMap<>(fields);
            request.getQueryParams()
                    .forEach((parameter, values) -> parameters
                            .computeIfAbsent(parameter, all -> new ArrayList<>())
                            .addAll(values));
            return new OnceRequest(
                    request.getMethod().name(),
                    String.valueOf(request.getURI().getRawPath()),
                    name.orElse(null),
                    keys,
                    parameters,
                    () -> exchange.getResponse().getHeaders().set(OnceRequest.REPLAYED, "true"));
        });
    }

    /** Returns the fields of a form; none for another content. */
    private static Mono<Map<String, List<String>>> form(ServerWebExchange exchange) {
        return Mono.zip(exchange.getFormData(), exchange.getMultipartData(), (fields, parts) -> {
            Map<String, List<String>> all = new TreeMap<>();
            fields.forEach((name, values) -> all.put(name, new ArrayList<>(values)));
            parts.forEach((name, values) -> values.forEach(part -> {
                if (part instanceof FormFieldPart field) {
                    all.computeIfAbsent(name, none -> new ArrayList<>()).add(field.value());
                }
            }));
            return all;
        });
    }
}
