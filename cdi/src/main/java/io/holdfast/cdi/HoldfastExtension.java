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

/**
 * Checks the annotations of all beans when the container examines them: at the start, or at the build in a container that
 * has one. Adds a bean of type {@link LockClient} if the application has none.
 *
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/cdi.md">Jakarta CDI</a>
 */
public final class HoldfastExtension implements BuildCompatibleExtension {

    private boolean hasClient;

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
        Class<?> type;
        try {
            // At a build, too, the classes of the application are there, to read and not to use.
            type = Class.forName(
                    bean.declaringClass().name(), false, Thread.currentThread().getContextClassLoader());
        } catch (ClassNotFoundException | LinkageError e) {
            // It is checked at the start.
            return;
        }
        try {
            MethodReader.all(type);
        } catch (DefinitionException e) {
            messages.error(String.valueOf(e.getMessage()), bean);
        } catch (LinkageError e) {
            // A type in a signature is absent. The class is checked at the start.
        }
    }

    @Synthesis
    public void client(SyntheticComponents components) {
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
