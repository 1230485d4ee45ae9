package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every form of acquiring takes a wait, options, or neither. Code that finds a method by reflection calls it on {@link
 * LockClient}, whose superclasses are not public.
 */
class AcquireFormsTest {

    private final LockClient client = LockClient.connect("memory:forms");

    @AfterEach
    void close() {
        client.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"acquire", "tryAcquire", "acquireAsync", "tryAcquireAsync"})
    void one_name(String form) throws Throwable {
        assertAllForms(form, String.class, "order:42");
    }

    @ParameterizedTest
    @ValueSource(strings = {"acquireAll", "tryAcquireAll", "acquireAllAsync", "tryAcquireAllAsync"})
    void several_names(String form) throws Throwable {
        assertAllForms(form, Collection.class, List.of("order:42", "order:43"));
    }

    private void assertAllForms(String form, Class<?> type, Object names) throws Throwable {
        assertAcquires(LockClient.class.getMethod(form, type), names);
        assertAcquires(LockClient.class.getMethod(form, type, Duration.class), names, Duration.ZERO);
        assertAcquires(LockClient.class.getMethod(form, type, LockOptions.class), names, LockOptions.defaults());
    }

    private void assertAcquires(Method method, Object... arguments) throws Throwable {
        MethodHandle form = MethodHandles.publicLookup().unreflect(method).bindTo(client);
        Object outcome = form.invokeWithArguments(arguments);
        if (outcome instanceof CompletionStage<?> stage) {
            CompletableFuture<?> answer = stage.toCompletableFuture();
            outcome = answer.get();
        }
        if (outcome instanceof Optional<?> found) {
            outcome = found.orElseThrow();
        }
        assertThat(client.localLocks()).as("%s", method).isNotEmpty();
        ((AutoCloseable) outcome).close();
        assertThat(client.localLocks()).as("%s", method).isEmpty();
    }
}
