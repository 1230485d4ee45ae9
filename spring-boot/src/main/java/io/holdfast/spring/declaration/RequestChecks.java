package io.holdfast.spring.declaration;

import static io.holdfast.spring.declaration.MethodChecks.refuseIf;

import java.lang.reflect.Method;
import java.util.List;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;

/**
 * Refuses methods whose answer cannot be stored, or whose request cannot be compared. By names: Spring MVC may be
 * absent.
 */
final class RequestChecks {

    private static final String BODY = "org.springframework.web.bind.annotation.ResponseBody";
    private static final String ENTITY = "org.springframework.http.HttpEntity";

    private static final List<String> PAST_THE_RESULT =
            List.of("jakarta.servlet.ServletResponse", "java.io.OutputStream", "java.io.Writer");
    private static final List<String> NOT_COMPARED = List.of(
            "java.io.InputStream",
            "java.io.Reader",
            "org.springframework.web.multipart.MultipartFile",
            "jakarta.servlet.http.Part");

    private RequestChecks() {}

    static void check(Method method, Class<?> targetClass, boolean isServlet) {
        refuseIf(
                !isServlet,
                method,
                "the application is no servlet application, so there is no request of Spring MVC",
                "Spring MVC, or @Idempotent on the method that does the work");
        refuseIf(
                !is(ENTITY, method.getReturnType()) && !isPresent(method) && !isPresent(targetClass),
                method,
                "its result is not the body of the answer, so the answer cannot be stored",
                "@RestController, @ResponseBody or ResponseEntity");
        for (Class<?> type : method.getParameterTypes()) {
            refuseIf(
                    PAST_THE_RESULT.stream().anyMatch(each -> is(each, type)),
                    method,
                    "it has a parameter of type " + type.getSimpleName()
                            + ", and what is written to that cannot be stored",
                    "all of the answer in the result, for example in a ResponseEntity");
            refuseIf(
                    NOT_COMPARED.stream().anyMatch(each -> is(each, type)),
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
