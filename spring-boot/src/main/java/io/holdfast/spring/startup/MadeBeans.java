package io.holdfast.spring.startup;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;

/**
 * The beans that the container makes. Others are put in the place of a bean as they are, by tests that mock it: no post-processor ever sees
 * those, and they are not to be taken for beans that were made too early.
 */
public final class MadeBeans implements BeanDefinitionRegistryPostProcessor {

    private final Set<String> names = ConcurrentHashMap.newKeySet();
    /** Those of objects that are no factories; also where the bean of the name is one, whose product it then was. */
    private final Set<String> namesOfObjects = ConcurrentHashMap.newKeySet();

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
                        if (!(bean instanceof FactoryBean)) {
                            namesOfObjects.add(beanName);
                        }
                    }
                    return bean;
                }
            });
        }
    }

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {}

    /** The singleton of the name, and its product if that was made; nothing that the container did not make. */
    List<Object> objects(ConfigurableListableBeanFactory beans, String beanName) {
        boolean isMade = names.contains(beanName) && beans.containsSingleton(beanName);
        Object bean = isMade ? beans.getSingleton(beanName) : null;
        if (bean instanceof FactoryBean<?> factory && factory.isSingleton() && namesOfObjects.contains(beanName)) {
            return List.of(bean, beans.getBean(beanName));
        }
        return bean == null ? List.of() : List.of(bean);
    }

    /** Nobody asks any more. */
    void forget() {
        over = true;
        names.clear();
        namesOfObjects.clear();
    }
}
