/** Pictures as JSON, for the commands and the page. */
@NullMarked
package io.holdfast.console.json;

import org.jspecify.annotations.NullMarked;
