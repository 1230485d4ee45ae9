package io.holdfast.spring;

import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;

/**
 * The beans that the container makes. Others are put in the place of a bean as they are, by tests that mock it: no post-processor ever sees
 * those, and they are not to be taken for beans that were made too early.
 */
final class MadeBeans implements BeanDefinitionRegistryPostProcessor {

    private final Set<String> names = ConcurrentHashMap.newKeySet();
    private volatile boolean over;

    /** As soon as can be: before the other post-processors and what they depend on are made. */
    @Override
    public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
        if (registry instanceof ConfigurableListableBeanFactory beans) {
            // Those that earlier ones of this kind depend on.
            names.addAll(Arrays.asList(beans.getSingletonNames()));
            beans.addBeanPostProcessor(new BeanPostProcessor() {
                @Override
                public Object postProcessAfterInitialization(Object bean, String beanName) {
                    if (!over) {
                        names.add(beanName);
                    }
                    return bean;
                }
            });
        }
    }

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {}

    boolean contains(String beanName) {
        return names.contains(beanName);
    }

    /** Nobody asks any more. */
    void forget() {
        over = true;
        names.clear();
    }
}
