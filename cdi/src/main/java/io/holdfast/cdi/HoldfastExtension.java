package io.holdfast.cdi;

import io.holdfast.LockClient;
import jakarta.enterprise.inject.build.compatible.spi.BeanInfo;
import jakarta.enterprise.inject.build.compatible.spi.BuildCompatibleExtension;
import jakarta.enterprise.inject.build.compatible.spi.Messages;
import jakarta.enterprise.inject.build.compatible.spi.Registration;
import jakarta.enterprise.inject.build.compatible.spi.Synthesis;
import jakarta.enterprise.inject.build.compatible.spi.SyntheticComponents;
import jakarta.enterprise.inject.spi.DefinitionException;
import jakarta.inject.Singleton;
import java.util.Set;
import java.util.TreeSet;

/**
 * Checks the annotations of all beans when the container examines them: at the start, or at the build in a container that
 * has one. Adds a bean of type {@link LockClient} if the application has none.
 *
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/cdi.md">Jakarta CDI</a>
 */
public final class HoldfastExtension implements BuildCompatibleExtension {

    private boolean hasClient;
    private final Set<String> marked = new TreeSet<>();

    @Registration(types = LockClient.class)
    public void found(BeanInfo client) {
        hasClient |= client.qualifiers().isEmpty()
                || client.qualifiers().stream()
                        .anyMatch(each -> each.name().equals("jakarta.enterprise.inject.Default"));
    }

    @Registration(types = Object.class)
    public void check(BeanInfo bean, Messages messages) {
        if (!bean.isClassBean()) {
            return;
        }
        String name = bean.declaringClass().name();
        Class<?> type;
        try {
            // At a build, too, the classes of the application are there, to read and not to use.
            type = Class.forName(name, false, Thread.currentThread().getContextClassLoader());
        } catch (ClassNotFoundException | LinkageError e) {
            // The container cannot have examined its methods.
            return;
        }
        try {
            if (!MethodReader.all(type).isEmpty()) {
                marked.add(name);
            }
        } catch (DefinitionException e) {
            messages.error(String.valueOf(e.getMessage()), bean);
        } catch (LinkageError e) {
            // A type in a signature is absent. The first call of a method reads it.
        }
    }

    @Synthesis
    public void add(SyntheticComponents components) {
        components
                .addBean(MarkedClasses.class)
                .type(MarkedClasses.class)
                .scope(Singleton.class)
                .withParam(MarkedClasses.NAMES, marked.toArray(String[]::new))
                .createWith(MarkedClasses.Creator.class);
        if (!hasClient) {
            components
                    .addBean(LockClient.class)
                    .type(LockClient.class)
                    .scope(Singleton.class)
                    .createWith(ClientOfSettings.class)
                    .disposeWith(ClientOfSettings.class);
        }
    }
}
