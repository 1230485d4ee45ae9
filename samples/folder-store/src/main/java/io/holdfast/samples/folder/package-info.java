/** A store of one's own, as docs/a-store-of-your-own.md explains it: locks between the processes of one machine. */
@NullMarked
package io.holdfast.samples.folder;

import org.jspecify.annotations.NullMarked;
