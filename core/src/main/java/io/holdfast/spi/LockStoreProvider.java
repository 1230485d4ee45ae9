package io.holdfast.spi;

import java.net.URI;
import java.util.Set;

/**
 * Opens stores by URI. Found through {@link java.util.ServiceLoader}; an implementation has a public no-argument
 * constructor.
 *
 * <pre>{@code
 * public final class TableLockStoreProvider implements LockStoreProvider {
 *     public Set<String> schemes() {
 *         return Set.of("table");
 *     }
 *     public LockStore open(URI uri, StoreContext context) {      // table:locks
 *         return new TableLockStore(uri.getSchemeSpecificPart(), context);
 *     }
 * }
 * }</pre>
 */
public interface LockStoreProvider {

    /** Returns the URI schemes that this provider opens, in lower case. */
    Set<String> schemes();

    /**
     * Connects to the store. Blocks until the store has answered or could not be reached.
     *
     * @throws IllegalArgumentException if the URI is not valid for this provider; the message names the wrong part and
     *     shows a correct one, and does not contain the password
     * @throws StoreException if the store does not answer or refuses the connection
     */
    LockStore open(URI uri, StoreContext context);
}
