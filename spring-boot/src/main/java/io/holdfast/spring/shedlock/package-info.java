/** Holdfast's locks for ShedLock. */
@NullMarked
package io.holdfast.spring.shedlock;

import org.jspecify.annotations.NullMarked;
