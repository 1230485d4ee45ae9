/**
 * A page for browsers that shows who blocks whom. {@link io.holdfast.console.web.ConsoleHandler} answers requests and
 * knows no HTTP server; an adapter passes them on.
 */
@NullMarked
package io.holdfast.console.web;

import org.jspecify.annotations.NullMarked;
