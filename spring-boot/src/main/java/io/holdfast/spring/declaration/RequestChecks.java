package io.holdfast.spring.declaration;

import static io.holdfast.spring.declaration.MethodChecks.refuseIf;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;

/**
 * Refuses methods whose answer cannot be stored, or whose request cannot be compared. By names: Spring MVC and WebFlux
 * may be absent.
 */
public final class RequestChecks {

    private static final String BODY = "org.springframework.web.bind.annotation.ResponseBody";

    /** The filter that shows the requests of WebFlux to the calls. */
    private static final String EXCHANGES = "holdfastExchangeFilter";

    private static final String ENTITY = "org.springframework.http.HttpEntity";

    private static final List<String> PAST_THE_RESULT = List.of(
            "jakarta.servlet.ServletResponse",
            "java.io.OutputStream",
            "java.io.Writer",
            "org.springframework.http.server.reactive.ServerHttpResponse",
            "org.springframework.web.server.ServerWebExchange");
    private static final List<String> NOT_COMPARED = List.of(
            "java.io.InputStream",
            "java.io.Reader",
            "org.springframework.web.multipart.MultipartFile",
            "jakarta.servlet.http.Part",
            "org.springframework.http.codec.multipart.Part",
            "org.springframework.core.io.buffer.DataBuffer");

    private RequestChecks() {}

    /** Returns the names of all types that are looked for, which a native image has to know. */
    public static List<String> typesLookedFor() {
        return Stream.of(List.of(BODY, ENTITY), PAST_THE_RESULT, NOT_COMPARED)
                .flatMap(List::stream)
                .toList();
    }

    static void check(
            Method method,
            Class<?> targetClass,
            Returns returns,
            Type resultType,
            ConfigurableListableBeanFactory beans) {
        boolean isReactive = beans.containsBean(EXCHANGES);
        refuseIf(
                !isReactive && beans.getRegisteredScope("request") == null,
                method,
                "the application is no web application, so there is no request",
                "Spring MVC or WebFlux, or @Idempotent on the method that does the work");
        refuseIf(
                isReactive && returns == Returns.VALUE,
                method,
                "WebFlux calls it on an event loop, which must not wait for a lock or for a database",
                "a method that returns a Mono, for example Mono.fromCallable(…), or a suspending function");
        refuseIf(
                !isReactive && returns != Returns.VALUE,
                method,
                "its work ends after it has returned, and a request of Spring MVC belongs to one thread",
                "a method that returns its result");
        ResolvableType result = ResolvableType.forType(resultType);
        boolean isEntity = is(ENTITY, result.resolve(Object.class));
        refuseIf(
                !isEntity && !isPresent(method) && !isPresent(targetClass),
                method,
                "its result is not the body of the answer, so the answer cannot be stored",
                "@RestController, @ResponseBody or ResponseEntity");
        refuseIf(
                isEntity && Returns.goesOn(result.getGeneric(0).resolve(Object.class)),
                method,
                "the body of its answer comes later than the answer, so it cannot be stored",
                "the body itself in the ResponseEntity, for example Mono<ResponseEntity<List<…>>>");
        for (int i = 0; i < method.getParameterCount(); i++) {
            Class<?> type = method.getParameterTypes()[i];
            ResolvableType content = ResolvableType.forMethodParameter(method, i);
            refuseIf(
                    PAST_THE_RESULT.stream().anyMatch(each -> is(each, type)),
                    method,
                    "it has a parameter of type " + type.getSimpleName()
                            + ", and what is written to that cannot be stored",
                    "all of the answer in the result, for example in a ResponseEntity");
            refuseIf(
                    NOT_COMPARED.stream().anyMatch(each -> is(each, type))
                            || Returns.goesOn(type)
                            || (is(ENTITY, type)
                                    && Returns.goesOn(content.getGeneric(0).resolve(Object.class))),
                    method,
                    "it has a parameter of type " + type.getSimpleName()
                            + ", whose content cannot be compared with that of a repetition",
                    "@RequestBody with an object, a text or bytes");
        }
    }

    private static boolean isPresent(java.lang.reflect.AnnotatedElement element) {
        return MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY).isPresent(BODY);
    }

    private static boolean is(String superType, Class<?> type) {
        ClassLoader loader = RequestChecks.class.getClassLoader();
        return ClassUtils.isPresent(superType, loader)
                && ClassUtils.resolveClassName(superType, loader).isAssignableFrom(type);
    }
}
