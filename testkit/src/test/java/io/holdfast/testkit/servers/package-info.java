/** Tests of the test tools. */
@NullMarked
package io.holdfast.testkit.servers;

import org.jspecify.annotations.NullMarked;
