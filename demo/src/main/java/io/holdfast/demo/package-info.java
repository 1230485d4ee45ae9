/**
 * The commands {@code demo} and {@code torture}. They start servers and processes of their own, so they need the
 * testkit; the published command line does not have them.
 */
@NullMarked
package io.holdfast.demo;

import org.jspecify.annotations.NullMarked;
