/** Tests of the demonstration's parts. */
@NullMarked
package io.holdfast.cli.demo;

import org.jspecify.annotations.NullMarked;
