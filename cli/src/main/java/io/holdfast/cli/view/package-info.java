/** How a picture of a store's locks looks on a terminal and in JSON. No I/O: text in lines goes out. */
@NullMarked
package io.holdfast.cli.view;

import org.jspecify.annotations.NullMarked;
