package io.holdfast.spring.startup;

import org.aopalliance.aop.Advice;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;

/** Spring's proxies around a bean: one may be inside of another. */
public final class Proxies {

    private Proxies() {}

    /** The first from the outside that has such an advice; null if there is none. */
    static @Nullable Advised advisedBy(Class<? extends Advice> advice, @Nullable Object bean) {
        Object current = bean;
        while (current instanceof Advised proxy && lastIndexOf(advice, proxy) < 0) {
            current = AopProxyUtils.getSingletonTarget(proxy);
        }
        return current instanceof Advised found ? found : null;
    }

    /** Of the innermost advisor with such an advice; -1 if there is none. */
    static int lastIndexOf(Class<? extends Advice> advice, Advised proxy) {
        Advisor[] all = proxy.getAdvisors();
        int last = all.length - 1;
        while (last >= 0 && !advice.isInstance(all[last].getAdvice())) {
            last--;
        }
        return last;
    }
}
