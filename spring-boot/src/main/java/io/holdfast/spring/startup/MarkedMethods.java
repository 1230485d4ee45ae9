package io.holdfast.spring.startup;

import io.holdfast.spring.Locked;
import io.holdfast.spring.declaration.OperationReader;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ClassFilter;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.core.annotation.AnnotationUtils;

/** The methods that are marked, right or wrong: a wrong one stops the start instead of being left out. */
public final class MarkedMethods extends StaticMethodMatcherPointcut {

    private final OperationReader reader;
    private final @Nullable Class<?> own;

    MarkedMethods(OperationReader reader) {
        this.reader = reader;
        this.own = null;
        setClassFilter((ClassFilter) type -> AnnotationUtils.isCandidateClass(type, Locked.class)
                || AnnotationUtils.isCandidateClass(type, Locked.Several.class));
    }

    /**
     * Those of this class, of whichever one Spring asks: with no target behind a proxy that is the interface that declares
     * the method, which knows nothing of an annotation on an interface that extends it.
     */
    MarkedMethods(OperationReader reader, Class<?> own) {
        this.reader = reader;
        this.own = own;
    }

    @Override
    public boolean matches(Method method, Class<?> targetClass) {
        return reader.isMarked(method, own == null ? targetClass : own);
    }
}
