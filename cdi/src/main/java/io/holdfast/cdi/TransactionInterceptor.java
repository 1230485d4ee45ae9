package io.holdfast.cdi;

import jakarta.annotation.Priority;
import jakarta.inject.Inject;
import jakarta.interceptor.AroundInvoke;
import jakarta.interceptor.Interceptor;
import jakarta.interceptor.InvocationContext;
import org.jspecify.annotations.Nullable;

/** Intercepts every marked method inside of {@code @Transactional}, where the transaction of the method has begun. */
@Interceptor
@HoldfastBinding
@Priority(Interceptor.Priority.PLATFORM_BEFORE + 250)
class TransactionInterceptor {

    private final LockedMethods methods;

    @Inject
    TransactionInterceptor(LockedMethods methods) {
        this.methods = methods;
    }

    @AroundInvoke
    @Nullable
    Object around(InvocationContext call) throws Exception {
        return methods.runInTransaction(call);
    }
}
