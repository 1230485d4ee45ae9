package io.holdfast.spring.startup;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;

/**
 * Collects the beans that the container has made and {@link LockedBeanPostProcessor} has not checked. At the end of the
 * startup, these are the beans that were made too early. A mock that a test registers in the place of a bean is never
 * among them, because the container does not make it.
 */
public final class UncheckedBeans implements BeanDefinitionRegistryPostProcessor {

    private final Map<String, Object> unchecked = new ConcurrentHashMap<>();
    private volatile boolean over;

    /** Starts to record before other post-processors, and the beans that they depend on, are made. */
    @Override
    public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
        if (registry instanceof ConfigurableListableBeanFactory beans) {
            // Registry post-processors that are earlier than this one may have needed some already.
            for (String name : beans.getSingletonNames()) {
                add(beans.getSingleton(name), name);
            }
            beans.addBeanPostProcessor(new BeanPostProcessor() {
                @Override
                public Object postProcessAfterInitialization(Object bean, String beanName) {
                    add(bean, beanName);
                    return bean;
                }
            });
        }
    }

    private void add(@Nullable Object bean, String beanName) {
        if (bean != null && !over) {
            unchecked.put(key(bean, beanName), bean);
        }
    }

    void checked(Object bean, String beanName) {
        unchecked.remove(key(bean, beanName));
    }

    /** Ends the recording, and passes on every bean that is still unchecked. */
    void end(BiConsumer<String, Object> receiver) {
        over = true;
        Map<String, Object> rest = new HashMap<>(unchecked);
        unchecked.clear();
        rest.forEach(receiver);
    }

    /** A factory bean and its product have the same bean name. */
    private static String key(Object bean, String beanName) {
        return bean instanceof FactoryBean ? BeanFactory.FACTORY_BEAN_PREFIX + beanName : beanName;
    }
}
