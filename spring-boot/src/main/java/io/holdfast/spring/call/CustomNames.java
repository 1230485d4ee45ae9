package io.holdfast.spring.call;

import io.holdfast.LockClient;
import io.holdfast.spi.Names;
import io.holdfast.spring.LockNameCustomizer;
import io.holdfast.spring.declaration.LazyBean;
import java.util.List;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.springframework.beans.factory.BeanFactory;

/**
 * Applies the {@link LockNameCustomizer} beans. Locked methods and the template share it, because both must lock the
 * same name for the same work. The beans are looked up at the first call, because they may need a locked bean.
 */
public final class CustomNames implements UnaryOperator<String> {

    private final Supplier<List<LockNameCustomizer>> all;

    public CustomNames(BeanFactory beans) {
        all = new LazyBean<>(() ->
                beans.getBeanProvider(LockNameCustomizer.class).orderedStream().toList());
    }

    /** @throws IllegalArgumentException if a customizer returns what is no lock name */
    @Override
    @SuppressWarnings("ConstantValue") // a customizer may be written without null checks
    public String apply(String name) {
        String customized = name;
        for (LockNameCustomizer each : all.get()) {
            String next = each.customize(customized);
            if (next == null) {
                throw new IllegalArgumentException(
                        "The LockNameCustomizer " + each.getClass().getName()
                                + " returned null for the lock \"" + Names.printable(customized)
                                + "\" (expected: a lock name; a job's thread may have no tenant, for example)");
            }
            customized = LockClient.checkName(next);
        }
        return customized;
    }
}
