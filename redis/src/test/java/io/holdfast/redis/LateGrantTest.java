package io.holdfast.redis;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.HolderId;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreListener;
import io.holdfast.testkit.servers.RedisServer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A message of a grant that comes while the owner releases, on the driver's I/O thread: a command that is sent there
 * goes to the server before the commands that callers' threads have sent.
 */
@Timeout(60)
class LateGrantTest {

    private final CompletableFuture<String> holderId = new CompletableFuture<>();
    private final CountDownLatch heard = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);

    @Test
    void the_release_finds_its_hold() throws Exception {
        try (RedisServer server = RedisServer.start();
                LockClient client = LockClient.builder()
                        .store(context -> held(context, server.uri()))
                        .build()) {
            Lease lease = client.acquire("late");
            String id = holderId.get(10, TimeUnit.SECONDS);
            server.command("PUBLISH", "holdfast:c:" + HolderId.client(id), "g " + id + " 1 0 30000 0 0 lock:late");
            assertThat(heard.await(10, TimeUnit.SECONDS)).isTrue();

            assertThat(lease.releaseAsync().toCompletableFuture().get(10, TimeUnit.SECONDS))
                    .isNull();
        }
    }

    /** The I/O thread stands still with the message in its hands until the release is sent. */
    private LockStore held(StoreContext context, String uri) {
        LockStore store = new RedisLockStoreProvider().open(URI.create(uri), context);
        return intercepted(LockStore.class, (method, args) -> {
            if (method.getName().equals("acquire")) {
                holderId.complete(((AcquireRequest) args[0]).holderId());
            } else if (method.getName().equals("listen")) {
                args[0] = held((StoreListener) args[0]);
            }
            Object result = invoke(store, method, args);
            if (method.getName().equals("release")) {
                released.countDown();
            }
            return result;
        });
    }

    private StoreListener held(StoreListener listener) {
        return intercepted(StoreListener.class, (method, args) -> {
            if (method.getName().equals("granted")) {
                heard.countDown();
                assertThat(released.await(10, TimeUnit.SECONDS)).isTrue();
            }
            return invoke(listener, method, args);
        });
    }

    private interface Call {
        @Nullable
        Object of(Method method, Object[] args) throws Throwable;
    }

    private static <T> T intercepted(Class<T> type, Call call) {
        return type.cast(Proxy.newProxyInstance(
                requireNonNull(type.getClassLoader()),
                new Class<?>[] {type},
                (proxy, method, args) -> call.of(method, args == null ? new Object[0] : args)));
    }

    private static @Nullable Object invoke(Object target, Method method, Object[] args) throws Throwable {
        try {
            return method.invoke(target, args);
        } catch (InvocationTargetException e) {
            throw e.getTargetException();
        }
    }
}
