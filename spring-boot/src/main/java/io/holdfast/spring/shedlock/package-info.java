/** Adapts Holdfast to ShedLock: {@link io.holdfast.spring.shedlock.HoldfastLockProvider}. */
@NullMarked
package io.holdfast.spring.shedlock;

import org.jspecify.annotations.NullMarked;
