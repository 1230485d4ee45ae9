/** The page of {@code holdfast console}, on the HTTP server that Java brings. */
@NullMarked
package io.holdfast.cli.page;

import org.jspecify.annotations.NullMarked;
