/** Tests of the test tools. */
@NullMarked
package io.holdfast.testkit.faults;

import org.jspecify.annotations.NullMarked;
