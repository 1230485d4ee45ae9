package io.holdfast.samples.micronaut;

import io.holdfast.LockClient;
import io.micronaut.aop.InterceptPhase;
import io.micronaut.aop.InterceptorBean;
import io.micronaut.aop.MethodInterceptor;
import io.micronaut.aop.MethodInvocationContext;
import jakarta.inject.Singleton;
import java.util.concurrent.CancellationException;

/** Acquires the lock outside of the transaction and of retries. */
@Singleton
@InterceptorBean(Locked.class)
class LockedInterceptor implements MethodInterceptor<Object, Object> {

    private final LockClient locks;

    LockedInterceptor(LockClient locks) {
        this.locks = locks;
    }

    @Override
    public int getOrder() {
        return InterceptPhase.RETRY.getPosition() - 10;
    }

    @Override
    public Object intercept(MethodInvocationContext<Object, Object> call) {
        String name = call.stringValue(Locked.class).orElseThrow();
        try {
            return locks.call(name, lease -> call.proceed());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CancellationException("Interrupted while waiting for the lock " + name);
        }
    }
}
