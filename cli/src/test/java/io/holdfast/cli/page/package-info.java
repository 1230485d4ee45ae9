/** Tests of the page's server. */
@NullMarked
package io.holdfast.cli.page;

import org.jspecify.annotations.NullMarked;
