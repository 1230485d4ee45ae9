/** Tests of the test tools. */
@NullMarked
package io.holdfast.testkit.contract;

import org.jspecify.annotations.NullMarked;
