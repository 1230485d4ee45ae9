/**
 * Locks on real servers that fail, one scenario a test. Each prints what it measured as one line that begins with
 * {@code failures:}; docs/verification-results.md has the table.
 */
@NullMarked
package io.holdfast.redis.failures;

import org.jspecify.annotations.NullMarked;
