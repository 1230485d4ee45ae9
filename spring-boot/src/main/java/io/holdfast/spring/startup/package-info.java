/**
 * Intercepts beans with locked methods, and refuses what could run unlocked. Internal: start at {@code
 * LockedBeanPostProcessor}.
 */
@NullMarked
package io.holdfast.spring.startup;

import org.jspecify.annotations.NullMarked;
