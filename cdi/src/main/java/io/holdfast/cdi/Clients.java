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
        Instance<LockClient> fitting =
                name.isEmpty() ? all.select(Default.Literal.INSTANCE) : all.select(NamedLiteral.of(name));
        if (!fitting.isResolvable()) {
            throw wrong(
                    place,
                    (fitting.isAmbiguous() ? "there are several LockClient beans " : "there is no LockClient bean ")
                            + (name.isEmpty() ? "without a qualifier" : "with @Named(\"" + name + "\")"),
                    "one, or client = the name of another");
        }
        return fitting.get();
    }
}
