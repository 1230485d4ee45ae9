/**
 * Tests of the checks: each must refuse a history that is bad in one respect.
 */
@NullMarked
package io.holdfast.history;

import org.jspecify.annotations.NullMarked;
