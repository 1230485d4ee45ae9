package io.holdfast.cdi;

import static io.holdfast.cdi.KeyTemplate.wrong;

import io.holdfast.LockClient;
import jakarta.enterprise.inject.Default;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.literal.NamedLiteral;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The clients that marked methods use. Thread-safe. */
final class Clients {

    private final Instance<LockClient> all;
    private final Map<String, LockClient> found = new ConcurrentHashMap<>();

    /** @param all those of all qualifiers */
    Clients(Instance<LockClient> all) {
        this.all = all;
    }

    /** @throws jakarta.enterprise.inject.spi.DefinitionException if there is no such bean, or several */
    LockClient get(String name, String place) {
        LockClient client = found.get(name);
        if (client == null) {
            // Not computeIfAbsent: nothing of ours may be locked while the container makes a bean.
            client = find(name, place);
            found.put(name, client);
        }
        return client;
    }

    Collection<LockClient> used() {
        return found.values();
    }

    private LockClient find(String name, String place) {
        return named(all, LockClient.class, name, "client", place);
    }

    /**
     * Returns the bean of a type with this name; the one without a qualifier if the name is empty.
     *
     * @param attribute that of the annotation which names the bean
     * @throws jakarta.enterprise.inject.spi.DefinitionException if there is no such bean, or several
     */
    static <T> T named(Instance<? super T> all, Class<T> type, String name, String attribute, String place) {
        Instance<T> fitting = all.select(type, name.isEmpty() ? Default.Literal.INSTANCE : NamedLiteral.of(name));
        if (!fitting.isResolvable()) {
            String bean = type.getSimpleName() + " bean";
            throw wrong(
                    place,
                    (fitting.isAmbiguous() ? "there are several " + bean + "s " : "there is no " + bean + " ")
                            + (name.isEmpty() ? "without a qualifier" : "with @Named(\"" + name + "\")"),
                    "one, or " + attribute + " = the name of another");
        }
        return fitting.get();
    }
}
