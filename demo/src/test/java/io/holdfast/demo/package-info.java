/** Tests of the two commands, as a user starts them. */
@NullMarked
package io.holdfast.demo;

import org.jspecify.annotations.NullMarked;
