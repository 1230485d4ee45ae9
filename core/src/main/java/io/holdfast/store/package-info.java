/**
 * How a client gets its store: {@code Stores} finds the module of a URI, {@code StoreOpening} opens the store, later if
 * need be, and {@code StoreErrors} tells a failure to the engine and to the user. Not exported: the public types are
 * public for other packages of this module only.
 */
@NullMarked
package io.holdfast.store;

import org.jspecify.annotations.NullMarked;
