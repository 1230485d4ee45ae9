package io.holdfast.cdi;

import static io.holdfast.cdi.KeyTemplate.wrong;
import static java.util.Objects.requireNonNull;

import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import jakarta.annotation.Priority;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.event.Startup;
import jakarta.enterprise.inject.Any;
import jakarta.enterprise.inject.Default;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.literal.NamedLiteral;
import jakarta.enterprise.inject.spi.Bean;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.inject.Inject;
import jakarta.interceptor.Interceptor;
import jakarta.interceptor.InvocationContext;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The marked methods of the application, and the clients that they use. Thread-safe. */
@ApplicationScoped
class LockedMethods {

    private record Key(Method method, Class<?> beanClass) {}

    private final Map<Key, List<LockedMethod>> known = new ConcurrentHashMap<>();
    private final Map<String, LockClient> found = new ConcurrentHashMap<>();

    /** Those of all qualifiers; null in the proxy that the container makes. */
    private final @Nullable Instance<LockClient> clients;

    private final Optional<Duration> waitTime;
    private final @Nullable TransactionEnds transactions;

    /** For the proxy of the container, which has no state. */
    LockedMethods() {
        this.clients = null;
        this.waitTime = Optional.empty();
        this.transactions = null;
    }

    @Inject
    LockedMethods(@Any Instance<LockClient> clients, BeanManager beans) {
        this.clients = clients;
        this.waitTime = Settings.waitTime();
        this.transactions = Settings.isPresent("jakarta.transaction.TransactionSynchronizationRegistry")
                ? TransactionEnds.find(beans)
                : null;
    }

    /** Keeps the leases of the calling thread until its transaction ends, if it is in one. */
    void awaitTransaction() {
        if (transactions != null) {
            transactions.await();
        }
    }

    /** Reads all marked methods before the application's own observers run, and opens the clients. */
    void start(@Observes @Priority(Interceptor.Priority.PLATFORM_BEFORE) Startup event, BeanManager beans) {
        for (Bean<?> bean : beans.getBeans(Object.class, Any.Literal.INSTANCE)) {
            marked(bean.getBeanClass()).forEach(this::client);
        }
    }

    private static List<LockedMethod> marked(Class<?> beanClass) {
        try {
            return MethodReader.all(beanClass);
        } catch (LinkageError e) {
            // A type in a signature is absent. The first call of a method reads it.
            return List.of();
        }
    }

    @Nullable
    Object run(InvocationContext call) throws Exception {
        return run(methods(call.getMethod(), call.getTarget().getClass()), call);
    }

    /** @param methods what the call is still to acquire, the outermost first */
    private @Nullable Object run(List<LockedMethod> methods, InvocationContext call) throws Exception {
        if (methods.isEmpty()) {
            return call.proceed();
        }
        LockedMethod method = methods.get(0);
        LockClient client = client(method);
        LockOptions options =
                method.waits() && waitTime.isPresent() ? method.options().waitAtMost(waitTime.get()) : method.options();
        String name = LockClient.checkName(method.lockName(call.getParameters()));
        return method.isStage()
                ? new StageCall(method, client, call).run(name, options)
                : new BlockingCall(
                                method,
                                client,
                                options,
                                name,
                                call,
                                () -> run(methods.subList(1, methods.size()), call))
                        .run();
    }

    /** @param beanClass may be a subclass that the container has made */
    private List<LockedMethod> methods(Method method, Class<?> beanClass) {
        return known.computeIfAbsent(new Key(method, beanClass), key -> {
            List<LockedMethod> read = MethodReader.read(method, beanClass);
            if (read.isEmpty()) {
                throw new IllegalStateException(
                        method + " is intercepted, but it has none of the annotations of Holdfast (expected: one on the"
                                + " method, its class or a stereotype)");
            }
            return read;
        });
    }

    private LockClient client(LockedMethod method) {
        LockClient client = found.get(method.client());
        if (client == null) {
            // Not computeIfAbsent: nothing of ours may be locked while the container makes a bean.
            client = find(method);
            found.put(method.client(), client);
        }
        return client;
    }

    private LockClient find(LockedMethod method) {
        Instance<LockClient> all = requireNonNull(clients);
        Instance<LockClient> fitting = method.client().isEmpty()
                ? all.select(Default.Literal.INSTANCE)
                : all.select(NamedLiteral.of(method.client()));
        if (!fitting.isResolvable()) {
            throw wrong(
                    method.place(),
                    (fitting.isAmbiguous() ? "there are several LockClient beans " : "there is no LockClient bean ")
                            + (method.client().isEmpty()
                                    ? "without a qualifier"
                                    : "with @Named(\"" + method.client() + "\")"),
                    "one, or client = the name of another");
        }
        return fitting.get();
    }
}
