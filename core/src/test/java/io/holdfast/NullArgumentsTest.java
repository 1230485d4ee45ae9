package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The package's page says that null is refused: each parameter in turn is null, and all others are good. */
class NullArgumentsTest {

    private static final Map<Class<?>, Object> GOOD = Map.ofEntries(
            Map.entry(String.class, "good"),
            Map.entry(Duration.class, Duration.ofSeconds(1)),
            Map.entry(LockOptions.class, LockOptions.defaults().waitAtMost(Duration.ZERO)),
            Map.entry(LeadershipOptions.class, LeadershipOptions.defaults()),
            Map.entry(Collection.class, List.of("one", "two")),
            Map.entry(TimeUnit.class, TimeUnit.SECONDS),
            Map.entry(Consumer.class, (Consumer<Object>) any -> {}),
            Map.entry(Function.class, (Function<Object, CompletionStage<String>>)
                    any -> CompletableFuture.completedFuture("")),
            Map.entry(LeaseTask.class, (LeaseTask<RuntimeException>) lease -> {}),
            Map.entry(LeaseCall.class, (LeaseCall<String, RuntimeException>) lease -> ""),
            Map.entry(Runnable.class, (Runnable) () -> {}),
            Map.entry(LeadershipListener.class, (LeadershipListener) term -> {}),
            Map.entry(int.class, 1),
            Map.entry(long.class, 1L));

    @Test
    void each_method_refuses_null() throws Exception {
        List<String> accepted = new ArrayList<>();
        try (LockClient client = LockClient.connect("memory:nulls");
                Lease lease = client.acquire("held");
                MultiLease leases = client.acquireAll(List.of("a", "b"))) {
            DistributedLock lock = client.getLock("lock");
            // Otherwise its methods fail for another reason.
            assertThat(lock.tryLock()).isTrue();
            for (Object each : List.of(
                    client,
                    lease,
                    leases,
                    lock,
                    client.getReadWriteLock("read-write"),
                    client.permits("permits", 2),
                    LockOptions.defaults(),
                    LeadershipOptions.defaults(),
                    LockClient.builder())) {
                for (Method method : methods(each)) {
                    for (int i = 0; i < method.getParameterCount(); i++) {
                        if (!method.getParameterTypes()[i].isPrimitive() && !refusesNull(each, method, i)) {
                            accepted.add(method + ", parameter " + i);
                        }
                    }
                }
            }
        }
        assertThat(new TreeSet<>(accepted)).isEmpty();
    }

    private static List<Method> methods(Object each) {
        List<Class<?>> types = new ArrayList<>(List.of(
                LockClient.class,
                Lease.class,
                MultiLease.class,
                DistributedLock.class,
                DistributedReadWriteLock.class,
                Permits.class,
                LockOptions.class,
                LeadershipOptions.class,
                LockClient.Builder.class));
        types.removeIf(type -> !type.isInstance(each));
        return Arrays.stream(types.get(0).getMethods())
                .filter(method -> method.getDeclaringClass() != Object.class
                        && !method.isBridge()
                        && !Modifier.isStatic(method.getModifiers())
                        && !method.getName().equals("equals"))
                .toList();
    }

    private static boolean refusesNull(Object on, Method method, int index) throws IllegalAccessException {
        @Nullable
        Object[] arguments =
                Arrays.stream(method.getParameterTypes()).map(GOOD::get).toArray();
        arguments[index] = null;
        method.setAccessible(true);
        try {
            method.invoke(on, arguments);
            return false;
        } catch (InvocationTargetException e) {
            return e.getCause() instanceof NullPointerException;
        }
    }
}
