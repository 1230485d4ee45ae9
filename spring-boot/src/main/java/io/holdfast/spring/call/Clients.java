package io.holdfast.spring.call;

import io.holdfast.LockClient;
import io.holdfast.spring.declaration.LockedDefinitionException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.StringUtils;

/** Finds the clients that annotations name, and keeps them. Thread-safe. */
public final class Clients {

    private final ConfigurableListableBeanFactory beans;
    private final Map<String, LockClient> found = new ConcurrentHashMap<>();

    public Clients(ConfigurableListableBeanFactory beans) {
        this.beans = beans;
    }

    /**
     * Returns the client.
     *
     * @param name name or qualifier of its bean; empty: the primary one
     * @param place the annotation that names it and what that is on, for the message
     * @throws LockedDefinitionException if there is no such client
     */
    public LockClient get(String name, String place) {
        LockClient known = found.get(name);
        if (known == null) {
            // Not computeIfAbsent: nothing of ours may be locked while Spring looks a bean up.
            known = find(name, place);
            found.put(name, known);
        }
        return known;
    }

    private LockClient find(String name, String place) {
        // Including those of a parent context.
        String[] known = BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, LockClient.class, true, false);
        if (known.length == 0) {
            throw new LockedDefinitionException(
                    place,
                    "there is no LockClient bean",
                    "holdfast.enabled not false, and spring.data.redis.*, holdfast.store or a LockClient of your own");
        }
        try {
            return StringUtils.hasText(name)
                    ? BeanFactoryAnnotationUtils.qualifiedBeanOfType(beans, LockClient.class, name)
                    : beans.getBean(LockClient.class);
        } catch (org.springframework.beans.factory.NoSuchBeanDefinitionException e) {
            throw new LockedDefinitionException(
                    place,
                    name.isEmpty()
                            ? "there are several LockClient beans and none is primary"
                            : "there is no LockClient with the name or qualifier \"" + name + "\"",
                    "client = one of " + String.join(", ", known));
        }
    }
}
