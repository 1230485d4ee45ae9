package io.holdfast.cdi;

import static io.holdfast.cdi.KeyTemplate.wrong;
import static java.util.Objects.requireNonNull;

import io.holdfast.Leadership;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.OnceOutcome;
import io.holdfast.Term;
import io.holdfast.leader.Candidate;
import io.holdfast.leader.Candidates;
import io.holdfast.leader.LeaderCall;
import io.holdfast.leader.LeaderThreads;
import jakarta.annotation.Priority;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import jakarta.enterprise.event.Shutdown;
import jakarta.enterprise.event.Startup;
import jakarta.enterprise.inject.Any;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.inject.Inject;
import jakarta.interceptor.Interceptor;
import jakarta.interceptor.InvocationContext;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The marked methods of the application, and what their calls need. Thread-safe. */
@ApplicationScoped
class LockedMethods implements Leaderships {

    private record Key(Method method, Class<?> beanClass) {}

    private final Map<Key, Marked> known = new ConcurrentHashMap<>();

    /** Null in the proxy that the container makes, as the next one. */
    private final @Nullable Clients clients;

    private final @Nullable Candidates candidates;
    private final Optional<Duration> waitTime;
    private final @Nullable TransactionEnds transactions;
    private final @Nullable OnceCalls once;
    private final @Nullable Meters meters;

    /** For the proxy of the container, which has no state. */
    LockedMethods() {
        this.clients = null;
        this.candidates = null;
        this.waitTime = Optional.empty();
        this.transactions = null;
        this.once = null;
        this.meters = null;
    }

    @Inject
    LockedMethods(@Any Instance<LockClient> clients, Meters meters, BeanManager beans) {
        this.meters = meters;
        Clients all = new Clients(clients);
        this.clients = all;
        this.candidates = new Candidates(all::get, Settings::leadership, KeyTemplate::wrong);
        this.waitTime = Settings.waitTime();
        this.transactions = Settings.isPresent("jakarta.transaction.TransactionSynchronizationRegistry")
                ? TransactionEnds.find(beans)
                : null;
        this.once = transactions != null && Settings.isPresent("io.holdfast.jdbc.JdbcOnce")
                ? new OnceCalls(transactions, beans)
                : null;
    }

    /** Opens the clients of all marked methods before the application's own observers run. */
    void start(@Observes @Priority(Interceptor.Priority.PLATFORM_BEFORE) Startup event, MarkedClasses classes) {
        LockClient locks = null;
        for (Class<?> each : classes.load()) {
            for (Marked marked : MethodReader.all(each)) {
                marked.locks().forEach(this::client);
                if (marked.leader() != null) {
                    candidate(marked.leader());
                }
                LockedMethod onceMethod = marked.once();
                if (onceMethod != null) {
                    once(onceMethod).check(onceMethod);
                    locks = client(onceMethod);
                }
            }
        }
        if (locks != null) {
            requireNonNull(once).begin(locks);
        }
    }

    /** Campaigns for the leaderships after the application's own observers have run. */
    void lead(@Observes @Priority(Integer.MAX_VALUE) Startup event) {
        requireNonNull(candidates).begin();
    }

    /** Closes the leaderships before anything else stops, also those that the application made at the same clients. */
    void stop(@Observes @Priority(Interceptor.Priority.PLATFORM_BEFORE) Shutdown event) {
        Set<Leadership> all = new LinkedHashSet<>(requireNonNull(candidates).end());
        requireNonNull(clients).used().forEach(client -> all.addAll(client.leaderships()));
        // A leader's method that ends the container would otherwise wait for itself.
        LeaderThreads.leave();
        Leadership.closeAll(all);
        if (once != null) {
            once.end();
        }
    }

    @Override
    public Set<String> names() {
        return requireNonNull(candidates).names();
    }

    @Override
    public Optional<Term> term(String name) {
        return requireNonNull(candidates).term(name);
    }

    /** Runs a call outside of the transaction of its method. */
    @Nullable
    Object run(InvocationContext call) throws Exception {
        Marked marked = marked(call);
        LeaderMethod leader = marked.leader();
        return leader == null
                ? run(marked.locks(), call)
                : new LeaderCall(candidate(leader), leader.place())
                        .<Exception>run(leader.isStage(), leader.method().getReturnType(), term -> {
                            give(call, leader.termParameter(), term);
                            return run(marked.locks(), call);
                        });
    }

    /** Runs a call inside of the transaction of its method. */
    @Nullable
    Object runInTransaction(InvocationContext call) throws Exception {
        if (transactions != null) {
            transactions.await();
        }
        LockedMethod once = marked(call).once();
        return once == null ? call.proceed() : once(once).run(once, call);
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
        BlockingCall blocking = new BlockingCall(
                method, client, options, name, call, () -> run(methods.subList(1, methods.size()), call));
        if (method.once() != null) {
            return counted(blocking);
        }
        return method.isStage() ? new StageCall(method, client, call).run(name, options) : blocking.run();
    }

    /** Runs a call whose work is done once, and counts its end: its transaction, if it has its own, has ended by then. */
    private @Nullable Object counted(BlockingCall blocking) throws Exception {
        InvocationContext call = blocking.call();
        OnceOutcome outcome = null;
        try {
            Object result = blocking.run();
            outcome = OnceCalls.outcome(call);
            return result;
        } catch (Throwable e) {
            outcome = OnceCalls.outcome(call, e);
            throw e;
        } finally {
            if (outcome != null) {
                requireNonNull(meters).ended(blocking.name(), outcome);
            }
        }
    }

    /** Passes a lease or a term to the parameter that the method has for it, if it has one. */
    static void give(InvocationContext call, int parameter, Object value) {
        if (parameter >= 0) {
            Object[] arguments = call.getParameters();
            arguments[parameter] = value;
            call.setParameters(arguments);
        }
    }

    /** The class of the target may be a subclass that the container has made. */
    private Marked marked(InvocationContext call) {
        return known.computeIfAbsent(new Key(call.getMethod(), call.getTarget().getClass()), key -> {
            Marked read = MethodReader.read(key.method, key.beanClass);
            if (read.isEmpty()) {
                throw new IllegalStateException(key.method
                        + " is intercepted, but it has none of the annotations of Holdfast (expected: one on the"
                        + " method, its class or a stereotype)");
            }
            return read;
        });
    }

    private LockClient client(LockedMethod method) {
        return requireNonNull(clients).get(method.client(), method.place());
    }

    private Candidate candidate(LeaderMethod leader) {
        return requireNonNull(candidates).candidate(leader.leadership(), leader.client(), leader.place());
    }

    private OnceCalls once(LockedMethod method) {
        if (once == null) {
            throw wrong(
                    method.place(),
                    transactions == null
                            ? "the container has no transactions of Jakarta, with which the key would be committed"
                            : "holdfast-jdbc is not on the class path",
                    transactions == null
                            ? "a container with Jakarta Transactions; in Quarkus, quarkus-agroal brings them"
                            : "the dependency io.holdfast:holdfast-jdbc");
        }
        return once;
    }
}
