/** Tests of how locks look. */
@NullMarked
package io.holdfast.cli.view;

import org.jspecify.annotations.NullMarked;
