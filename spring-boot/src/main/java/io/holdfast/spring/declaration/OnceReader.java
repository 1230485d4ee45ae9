package io.holdfast.spring.declaration;

import static io.holdfast.spring.declaration.MethodChecks.refuseIf;

import io.holdfast.spring.LockKey;
import io.holdfast.spring.OnceRecord;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.Arrays;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.AnnotatedMethod;
import org.springframework.util.StringUtils;

/** Reads in which way the work of a method is done once, and refuses what cannot work. */
final class OnceReader {

    /** As JdbcOnce.keepFor has it. */
    private static final Duration KEPT_AT_MOST = Duration.ofDays(36_500);

    /** As StoreOnce.keepFor has it. */
    private static final Duration KEPT_IN_STORE_AT_MOST = Duration.ofDays(365);

    private final ConfigurableListableBeanFactory beans;
    private final Expressions expressions;

    OnceReader(ConfigurableListableBeanFactory beans, Expressions expressions) {
        this.beans = beans;
        this.expressions = expressions;
    }

    Once once(Method method, Class<?> targetClass, Declared annotation, Declared.OnceText text, Returns returns) {
        boolean inStore = text.record() == OnceRecord.STORE_AT_LEAST_ONCE;
        Type resultType = Returns.genericResultType(method, targetClass, returns);
        if (annotation.kind() == Kind.REQUEST) {
            RequestChecks.check(method, targetClass, returns, resultType, beans);
        } else {
            refuseIf(
                    !inStore && returns != Returns.VALUE,
                    method,
                    "its work ends after it has returned, and a transaction belongs to one thread",
                    "a method that returns its result, which others call on a thread that may wait, for example by"
                            + " Mono.fromCallable(…).subscribeOn(Schedulers.boundedElastic()); or, for a Mono and a"
                            + " suspending function, record = OnceRecord.STORE_AT_LEAST_ONCE");
            refuseIf(
                    annotation.key().isEmpty() && !hasKeyParameter(method),
                    method,
                    "it has no key, so it would run once for all calls",
                    "key = \"#request.id\", for example");
        }
        refuseIf(
                returns == Returns.STAGE || returns == Returns.FLUX,
                method,
                "the result of a " + method.getReturnType().getSimpleName() + " is not stored",
                "a method that returns a Mono or its result, or a suspending function");
        refuseIf(
                inStore && !text.transactionManager().isEmpty(),
                method,
                "transactionManager, but its record is in the store of the locks",
                "one of them");
        Duration keepFor =
                MethodChecks.duration(beans, method, "keepFor", text.keepFor()).orElse(Duration.ZERO);
        Duration most = inStore ? KEPT_IN_STORE_AT_MOST : KEPT_AT_MOST;
        refuseIf(
                keepFor.compareTo(Duration.ofSeconds(1)) < 0 || keepFor.compareTo(most) > 0,
                method,
                "keepFor: \"" + text.keepFor() + "\"",
                "from 1s to " + most.toDays() + "d");
        return new Once(
                targetClass,
                resultType,
                keepFor,
                StringUtils.hasText(text.fingerprint())
                        ? expressions.parse(method, "fingerprint", text.fingerprint())
                        : null,
                text.record(),
                MethodChecks.resolve(beans, Marks.on(method), "transactionManager", text.transactionManager()));
    }

    private static boolean hasKeyParameter(Method method) {
        return Arrays.stream(new AnnotatedMethod(method).getMethodParameters())
                .anyMatch(parameter -> parameter.hasParameterAnnotation(LockKey.class));
    }
}
