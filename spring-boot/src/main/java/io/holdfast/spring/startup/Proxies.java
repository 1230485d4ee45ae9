package io.holdfast.spring.startup;

import org.aopalliance.aop.Advice;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;

/** Finds advice in the proxies around a bean, of which one may be inside another. */
final class Proxies {

    private Proxies() {}

    /** Returns the outermost proxy that has such advice; null if there is none. */
    static @Nullable Advised advisedBy(Class<? extends Advice> advice, @Nullable Object bean) {
        Object current = bean;
        while (current instanceof Advised proxy && lastIndexOf(advice, proxy) < 0) {
            current = AopProxyUtils.getSingletonTarget(proxy);
        }
        return current instanceof Advised found ? found : null;
    }

    /** Returns the index of the innermost advisor with such advice; -1 if there is none. */
    static int lastIndexOf(Class<? extends Advice> advice, Advised proxy) {
        Advisor[] all = proxy.getAdvisors();
        int last = all.length - 1;
        while (last >= 0 && !advice.isInstance(all[last].getAdvice())) {
            last--;
        }
        return last;
    }
}
