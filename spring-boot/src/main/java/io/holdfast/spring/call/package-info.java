/** Runs the calls of locked methods. Internal: start at {@code LockedInterceptor}. */
@NullMarked
package io.holdfast.spring.call;

import org.jspecify.annotations.NullMarked;
