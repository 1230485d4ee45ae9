/** Supports tests of applications with locks. Start at {@link io.holdfast.spring.test.LockTester}. */
@NullMarked
package io.holdfast.spring.test;

import org.jspecify.annotations.NullMarked;
