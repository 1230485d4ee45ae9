package io.holdfast.cdi;

import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.build.compatible.spi.Parameters;
import jakarta.enterprise.inject.build.compatible.spi.SyntheticBeanCreator;
import java.util.ArrayList;
import java.util.List;

/**
 * The classes of beans that have marked methods, as {@link HoldfastExtension} found them. The container makes it.
 *
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/cdi.md">Jakarta CDI</a>
 */
public final class MarkedClasses {

    static final String NAMES = "names";

    private final List<String> names;

    private MarkedClasses(List<String> names) {
        this.names = names;
    }

    List<Class<?>> load() {
        List<Class<?>> classes = new ArrayList<>();
        for (String name : names) {
            try {
                classes.add(Class.forName(name, false, Thread.currentThread().getContextClassLoader()));
            } catch (ClassNotFoundException e) {
                throw new IllegalStateException(
                        "The class " + name + ", which has methods with annotations of Holdfast, cannot be loaded", e);
            }
        }
        return classes;
    }

    /** Creates the bean, for the container. */
    public static final class Creator implements SyntheticBeanCreator<MarkedClasses> {

        @Override
        public MarkedClasses create(Instance<Object> lookup, Parameters params) {
            return new MarkedClasses(List.of(params.get(NAMES, String[].class)));
        }
    }
}
