package io.holdfast.spring.startup;

import io.holdfast.LockClient;
import io.holdfast.Permits;
import io.holdfast.spring.LockNameCustomizer;
import io.holdfast.spring.declaration.Kind;
import io.holdfast.spring.declaration.LockedDefinitionException;
import io.holdfast.spring.declaration.LockedOperation;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;

/**
 * Refuses two places of one application that name the same permits and give them different limits. The smaller limit
 * would hold up the requests with the larger one, because each request is judged by its own. Thread-safe.
 */
final class DeclaredLimits {

    private record Pool(String client, String name) {}

    private record Limit(String place, int permits) {}

    private final ListableBeanFactory beans;

    /** The first place for each pool. */
    private final Map<Pool, Limit> known = new ConcurrentHashMap<>();

    DeclaredLimits(ListableBeanFactory beans) {
        this.beans = beans;
    }

    /**
     * Adds the limit of a method, unless an expression gives it.
     *
     * @throws LockedDefinitionException if another place has another limit
     */
    void add(LockedOperation operation) {
        if (operation.kind() == Kind.PERMITS && operation.limit().isConstant()) {
            String client = hasOneClient() ? "" : operation.client();
            add(
                    operation.place(),
                    new Pool(client, operation.pool()),
                    operation.limit().constant());
        }
    }

    /**
     * Adds the limit of a bean, unless methods may mean other permits by the same name: those of another client, or of
     * a customized name.
     *
     * @throws LockedDefinitionException if another place has another limit
     */
    void add(Permits permits, String beanName) {
        if (hasOneClient() && beans.getBeanNamesForType(LockNameCustomizer.class, true, false).length == 0) {
            add("Permits bean \"" + beanName + "\"", new Pool("", permits.name()), permits.limit());
        }
    }

    private void add(String place, Pool pool, int permits) {
        Limit first = known.putIfAbsent(pool, new Limit(place, permits));
        if (first != null && first.permits != permits) {
            throw new LockedDefinitionException(
                    place,
                    "its limit of \"" + pool.name + "\" is " + permits + ", but that of " + first.place + " is "
                            + first.permits + ", and the smaller one would hold up all calls",
                    "one limit, for example by one property, or two names");
        }
    }

    private boolean hasOneClient() {
        return BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, LockClient.class, true, false).length == 1;
    }
}
