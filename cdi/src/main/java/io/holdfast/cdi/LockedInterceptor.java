package io.holdfast.cdi;

import jakarta.annotation.Priority;
import jakarta.inject.Inject;
import jakarta.interceptor.AroundInvoke;
import jakarta.interceptor.Interceptor;
import jakarta.interceptor.InvocationContext;
import org.jspecify.annotations.Nullable;

/**
 * Intercepts every marked method: outside of {@code @Transactional}, whose priority is 50 higher, and outside of
 * MicroProfile's {@code @Retry}.
 */
@Interceptor
@HoldfastBinding
@Priority(Interceptor.Priority.PLATFORM_BEFORE + 150)
class LockedInterceptor {

    private final LockedMethods methods;

    @Inject
    LockedInterceptor(LockedMethods methods) {
        this.methods = methods;
    }

    @AroundInvoke
    @Nullable
    Object around(InvocationContext call) throws Exception {
        return methods.run(call);
    }
}
