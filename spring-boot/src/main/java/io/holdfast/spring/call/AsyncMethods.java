package io.holdfast.spring.call;

import java.lang.reflect.Method;
import org.aopalliance.intercept.MethodInvocation;
import org.springframework.aop.Advisor;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.aop.support.AopUtils;

/** Tells the calls that {@code @Async} has brought to a thread of the executor that the user chose for them. */
public final class AsyncMethods {

    private AsyncMethods() {}

    /** Whether a thread of that executor makes this call, and waits for the stage that the method returns. */
    static boolean isOnChosenExecutor(MethodInvocation invocation, Class<?> targetClass) {
        if (!(invocation instanceof ProxyMethodInvocation proxied)
                || !(proxied.getProxy() instanceof Advised advised)) {
            return false;
        }
        Method method = invocation.getMethod();
        for (Advisor advisor : advised.getAdvisors()) {
            if (advisor.getAdvice() instanceof AsyncExecutionInterceptor
                    && advisor instanceof org.springframework.aop.PointcutAdvisor pointed
                    && pointed.getPointcut().getClassFilter().matches(targetClass)
                    && pointed.getPointcut()
                            .getMethodMatcher()
                            .matches(AopUtils.getMostSpecificMethod(method, targetClass), targetClass)) {
                return true;
            }
        }
        return false;
    }
}
