/** Tests of the demonstration's parts. */
@NullMarked
package io.holdfast.demo.scenes;

import org.jspecify.annotations.NullMarked;
