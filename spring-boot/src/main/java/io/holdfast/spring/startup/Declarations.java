package io.holdfast.spring.startup;

import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import io.holdfast.Permits;
import io.holdfast.spring.LockNameCustomizer;
import io.holdfast.spring.OnBusy;
import io.holdfast.spring.call.Clients;
import io.holdfast.spring.call.ContextLeaderships;
import io.holdfast.spring.call.OnceCalls;
import io.holdfast.spring.declaration.Kind;
import io.holdfast.spring.declaration.LeaderOperation;
import io.holdfast.spring.declaration.LockedDefinitionException;
import io.holdfast.spring.declaration.LockedMethods;
import io.holdfast.spring.declaration.LockedNames;
import io.holdfast.spring.declaration.LockedOperation;
import io.holdfast.spring.declaration.Marks;
import io.holdfast.spring.declaration.OperationReader;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.core.MethodIntrospector;

/** The declarations of all beans: what they need of the clients and of each other. Thread-safe. */
final class Declarations {

    private static final System.Logger LOG = System.getLogger(LockedBeanPostProcessor.class.getName());

    private final ListableBeanFactory beans;
    private final OperationReader reader;
    private final LockedNames names;
    private final LockedMethods methods;
    private final Clients clients;
    private final ContextLeaderships leaderships;
    private final OnceCalls once;
    private final DeclaredLimits limits;

    /** For each client that a bean needs, one annotation that needs it. */
    private final Map<String, String> places = new ConcurrentHashMap<>();

    /** For each client of which a bean needs permits or a read-write lock, one annotation that needs that. */
    private final Map<String, String> demands = new ConcurrentHashMap<>();

    Declarations(
            ListableBeanFactory beans,
            OperationReader reader,
            LockedNames names,
            LockedMethods methods,
            Clients clients,
            ContextLeaderships leaderships,
            OnceCalls once) {
        this.beans = beans;
        this.reader = reader;
        this.names = names;
        this.methods = methods;
        this.clients = clients;
        this.leaderships = leaderships;
        this.once = once;
        this.limits = new DeclaredLimits(beans);
    }

    void add(Permits permits, String beanName) {
        limits.add(permits, beanName);
    }

    /** Reads and checks the declarations of this class, and returns its marked methods. */
    List<Method> read(Class<?> type) {
        Map<Method, List<LockedOperation>> locked = MethodIntrospector.selectMethods(
                type, (MethodIntrospector.MetadataLookup<@Nullable List<LockedOperation>>)
                        method -> reader.isLocked(method, type) ? reader.operations(method, type) : null);
        locked.values().stream().flatMap(List::stream).forEach(operation -> {
            methods.add(operation);
            limits.add(operation);
            once.declare(operation);
            operation.constantNames().forEach(names::add);
            places.putIfAbsent(operation.client(), operation.place());
            if (!operation.kind().shown().isEmpty()) {
                operation
                        .constantNames()
                        .forEach(name -> names.add(operation.kind().shown() + name));
                demands.putIfAbsent(operation.client(), operation.place());
            }
            warnIfErrorAtEachFiring(operation);
        });
        Map<Method, LeaderOperation> leaders =
                MethodIntrospector.selectMethods(type, (MethodIntrospector.MetadataLookup<@Nullable LeaderOperation>)
                        method -> reader.leader(method, type));
        leaders.values().forEach(operation -> {
            places.putIfAbsent(operation.client(), Marks.on(operation.method()));
            leaderships.declare(operation.leadership(), operation.client(), Marks.on(operation.method()));
        });
        return Stream.concat(locked.keySet().stream(), leaders.keySet().stream())
                .map(method -> OperationReader.specific(method, type))
                .distinct()
                .toList();
    }

    /** Looks for all clients that the beans need, once all beans are made, and checks what these are needed for. */
    void check() {
        places.forEach(clients::get);
        demands.forEach(this::checkHasPermits);
        once.check();
        if (beans.getBeanNamesForType(LockNameCustomizer.class, true, false).length > 0) {
            names.allowPrefixes();
        }
    }

    private void checkHasPermits(String name, String place) {
        LockClient client = clients.get(name, place);
        if (!hasPermits(client)) {
            throw new LockedDefinitionException(
                    place,
                    client.describeStore() + " has no permits and no read-write locks",
                    "Redis in mode lua, ZooKeeper, a database, or memory");
        }
    }

    /** Returns true if the store is not open yet: then the first call finds out. */
    private static boolean hasPermits(LockClient client) {
        try {
            return client.hasPermits();
        } catch (LockStoreException e) {
            return true;
        }
    }

    private static void warnIfErrorAtEachFiring(LockedOperation operation) {
        if (operation.isScheduled() && operation.onBusy() == OnBusy.THROW && operation.busyAnswer() == null) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "{0} is scheduled, so each firing that finds its {1} taken by another node is logged as an error"
                            + " (expected: {2}onBusy = SKIP)",
                    operation.place(),
                    operation.kind().word(),
                    operation.kind() == Kind.LOCK ? "@ScheduledLock, or " : "");
        }
    }
}
