package io.holdfast;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a method whose result must not be dropped, because the caller has to release it, or to find out from it what
 * was done. Error Prone refuses a call that drops the result, and IntelliJ IDEA and SpotBugs warn about it: they know
 * the annotation by its simple name.
 *
 * <pre>{@code
 * @CheckReturnValue
 * Lease lockOrder(long orderId) throws InterruptedException {      // the caller has to release the lease
 *     return locks.acquire("order:" + orderId);
 * }
 * }</pre>
 *
 * <p>The tools look at the call alone. They do not see that a callback drops a lease, as in {@code
 * locks.tryAcquire("x").ifPresent(lease -> work())}: the client logs such a lease when a garbage collection finds that
 * nothing refers to it. The annotation has no effect at run time.
 */
@Documented
@Retention(RetentionPolicy.CLASS)
@Target(ElementType.METHOD)
public @interface CheckReturnValue {}
