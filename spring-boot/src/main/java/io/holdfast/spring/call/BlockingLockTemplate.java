package io.holdfast.spring.call;

import static java.util.Objects.requireNonNull;

import io.holdfast.Lease;
import io.holdfast.LeaseCall;
import io.holdfast.LeaseTask;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import io.holdfast.MultiLease;
import io.holdfast.spring.LockMode;
import io.holdfast.spring.LockTemplate;
import io.holdfast.spring.LockedDefaults;
import io.holdfast.spring.OnLost;
import io.holdfast.spring.declaration.Kind;
import io.holdfast.spring.declaration.LockedNames;
import io.holdfast.spring.declaration.OperationReader;
import io.holdfast.spring.declaration.Wanted;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Runs callbacks as {@link BlockingCall}s, like the proxies. */
public final class BlockingLockTemplate implements LockTemplate {

    private final Supplier<LockClient> client;
    private final Supplier<LockedDefaults> defaults;
    private final Supplier<ObservationRegistry> observations;
    private final LockedNames knownNames;
    private final UnaryOperator<String> customNames;
    private final Wanted wanted;
    private final OuterTransactions outer;

    /**
     * Creates a template that asks the suppliers at each call and not here, so that it does not make other beans early.
     */
    public BlockingLockTemplate(
            Supplier<LockClient> client,
            Supplier<LockedDefaults> defaults,
            Supplier<ObservationRegistry> observations,
            LockedNames knownNames,
            UnaryOperator<String> customNames) {
        this(client, defaults, observations, knownNames, customNames, Wanted.LOCK);
    }

    private BlockingLockTemplate(
            Supplier<LockClient> client,
            Supplier<LockedDefaults> defaults,
            Supplier<ObservationRegistry> observations,
            LockedNames knownNames,
            UnaryOperator<String> customNames,
            Wanted wanted) {
        this.client = client;
        this.defaults = defaults;
        this.observations = observations;
        this.knownNames = knownNames;
        this.customNames = customNames;
        this.wanted = wanted;
        this.outer = new OuterTransactions(defaults);
    }

    @Override
    public LockTemplate withClient(LockClient other) {
        requireNonNull(other, "client");
        return new BlockingLockTemplate(() -> other, defaults, observations, knownNames, customNames, wanted);
    }

    @Override
    public LockTemplate withPermits(int limit, int weight) {
        Wanted permits = Wanted.permits(limit, weight);
        return new BlockingLockTemplate(client, defaults, observations, knownNames, customNames, permits);
    }

    @Override
    public LockTemplate withMode(LockMode mode) {
        return new BlockingLockTemplate(client, defaults, observations, knownNames, customNames, Wanted.of(mode));
    }

    @Override
    public <T extends @Nullable Object, E extends Exception> T execute(
            String name, LockOptions options, LeaseCall<T, E> work) throws E {
        requireNonNull(work, "work");
        AllCall<T, E> alone = leases -> work.call(only(leases));
        return run(new Call(List.of(name), options, alone, null));
    }

    @Override
    public <E extends Exception> void executeWithoutResult(String name, LockOptions options, LeaseTask<E> work)
            throws E {
        boolean unused = this.<Boolean, E>run(new Call(List.of(name), options, ran(work), null));
    }

    @Override
    public <E extends Exception> boolean tryExecute(String name, Duration wait, LeaseTask<E> work) throws E {
        return this.<Boolean, E>run(
                new Call(List.of(name), LockOptions.defaults().waitAtMost(wait), ran(work), false));
    }

    private static <E extends Exception> AllCall<Boolean, E> ran(LeaseTask<E> work) {
        requireNonNull(work, "work");
        return leases -> {
            work.run(only(leases));
            return true;
        };
    }

    @Override
    public <T extends @Nullable Object, E extends Exception> T executeAll(
            Collection<String> names, LockOptions options, AllCall<T, E> work) throws E {
        requireNonNull(work, "work");
        return this.<T, E>run(new Call(names, options, work, null));
    }

    /** The work throws no checked exception but {@code E}, and a call adds none. */
    @SuppressWarnings({"unchecked", "NullAway", "TypeParameterUnusedInFormals"}) // null only if the work returns it
    private <T extends @Nullable Object, E extends Exception> T run(Call call) throws E {
        try {
            return (T) new BlockingCall(call).run();
        } catch (Error e) {
            throw e;
        } catch (Throwable e) {
            throw (E) e;
        }
    }

    private static Lease only(Map<String, Lease> leases) {
        return leases.values().iterator().next();
    }

    private final class Call implements BlockingWork {

        /** Maps each locked name to the caller's name. */
        private final TreeMap<String, String> names = new TreeMap<>();

        private final LockClient lockClient = client.get();
        private final LockOptions options;
        private final AllCall<?, ?> work;
        private final @Nullable Boolean resultIfBusy;
        private final Map<String, Lease> leases = new TreeMap<>();

        /** @param resultIfBusy null: throws */
        Call(Collection<String> names, LockOptions options, AllCall<?, ?> work, @Nullable Boolean resultIfBusy) {
            names.forEach(name -> this.names.put(customNames.apply(LockClient.checkName(name)), name));
            if (names.isEmpty()) {
                throw new IllegalArgumentException("lock names: none (expected: at least one)");
            }
            wanted.checkNames(this.names.keySet());
            LockedDefaults standard = defaults.get();
            LockOptions limited = options.waitAtMost()
                    .or(standard::waitTime)
                    .map(options::waitAtMost)
                    .orElse(options);
            this.options = OperationReader.completed(limited, standard.options());
            this.work = work;
            this.resultIfBusy = resultIfBusy;
        }

        @Override
        public LockClient client() {
            return lockClient;
        }

        @Override
        public Collection<String> names() {
            return names.keySet();
        }

        @Override
        public Wanted wanted() {
            return wanted;
        }

        @Override
        public LockOptions options() {
            return options;
        }

        @Override
        public ObservedCall begin() {
            return new ObservedCall(observations.get(), wanted.kind(), label(), names.keySet());
        }

        /** Returns the constant parts of the names, of which there are few. */
        private String label() {
            return names.values().stream().map(knownNames::tag).distinct().collect(Collectors.joining("+"));
        }

        @Override
        public void checkOuterTransaction() {
            if (wanted.kind() == Kind.LOCK) {
                outer.check("LockTemplate (lock \"" + label() + "\")", null, null);
            }
        }

        @Override
        public void giveHeld(List<Lease> held) {
            held.forEach(lease -> leases.put(names.getOrDefault(lease.name(), lease.name()), lease));
        }

        @Override
        public void giveAcquired(MultiLease acquired, boolean isAll) {
            giveHeld(acquired.leases());
        }

        @Override
        public @Nullable Object proceed() throws Throwable {
            return work.call(Collections.unmodifiableMap(leases));
        }

        @Override
        public @Nullable Object alternative(LockTimeoutException busy, ObservedCall observed) {
            observed.ended(resultIfBusy == null ? "timeout" : "skipped", resultIfBusy == null ? busy : null);
            if (resultIfBusy == null) {
                throw busy;
            }
            return resultIfBusy;
        }

        @Override
        public Losses watchLosses(MultiLease acquired) {
            return new Losses(acquired, OnLost.THROW, lease -> {});
        }
    }
}
