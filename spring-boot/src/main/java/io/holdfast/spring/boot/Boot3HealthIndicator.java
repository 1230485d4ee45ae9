package io.holdfast.spring.boot;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Makes a health indicator for Boot 3. This jar is compiled against Boot 4, where those classes have other names, so
 * the indicator is a proxy of the interface that answers by reflection.
 */
final class Boot3HealthIndicator implements FactoryBean<Object> {

    static final String INDICATOR = "org.springframework.boot.actuate.health.HealthIndicator";

    private static final String HEALTH = "org.springframework.boot.actuate.health.Health";

    private final ClassLoader classes = Boot3HealthIndicator.class.getClassLoader();
    private final Supplier<LockHealth> health;

    Boot3HealthIndicator(Supplier<LockHealth> health) {
        this.health = health;
    }

    @Override
    public Class<?> getObjectType() {
        return ClassUtils.resolveClassName(INDICATOR, classes);
    }

    @Override
    public Object getObject() {
        return Proxy.newProxyInstance(classes, new Class<?>[] {getObjectType()}, this::invoke);
    }

    private @Nullable Object invoke(Object proxy, Method method, @Nullable Object @Nullable [] args) throws Throwable {
        if (method.isDefault()) {
            return InvocationHandler.invokeDefault(proxy, method, args);
        }
        return switch (method.getName()) {
            case "health" -> answer(health.get());
            case "equals" -> proxy == Objects.requireNonNull(args)[0];
            case "hashCode" -> System.identityHashCode(proxy);
            case "toString" -> "health of locks";
            default -> throw new UnsupportedOperationException(method.toString());
        };
    }

    private Object answer(LockHealth locks) {
        Class<?> type = ClassUtils.resolveClassName(HEALTH, classes);
        Object builder = call(type, locks.up() ? "up" : "down", null);
        call(builder.getClass(), "withDetails", builder, locks.details());
        return call(builder.getClass(), "build", builder);
    }

    private static Object call(Class<?> type, String name, @Nullable Object target, Object... args) {
        Class<?>[] parameters = args.length == 0 ? new Class<?>[0] : new Class<?>[] {Map.class};
        Method method = Objects.requireNonNull(ReflectionUtils.findMethod(type, name, parameters), name);
        return Objects.requireNonNull(ReflectionUtils.invokeMethod(method, target, args));
    }

    /** Registers the proxy and the reflection for native images. */
    static final class Hints implements RuntimeHintsRegistrar {

        @Override
        public void registerHints(RuntimeHints hints, @Nullable ClassLoader loader) {
            if (ClassUtils.isPresent(INDICATOR, loader)) {
                hints.proxies().registerJdkProxy(TypeReference.of(INDICATOR));
                hints.reflection().registerType(TypeReference.of(HEALTH), MemberCategory.INVOKE_PUBLIC_METHODS);
                hints.reflection()
                        .registerType(TypeReference.of(HEALTH + "$Builder"), MemberCategory.INVOKE_PUBLIC_METHODS);
            }
        }
    }
}
