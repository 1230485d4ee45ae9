package io.holdfast.samples.folder;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.LockStoreProvider;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;

/** Opens {@code folder:/path/of/a/folder}, and makes the folder if it is not there. */
public final class FolderLockStoreProvider implements LockStoreProvider {

    @Override
    public Set<String> schemes() {
        return Set.of("folder");
    }

    @Override
    public LockStore open(URI uri, StoreContext context) {
        try {
            // Refuses a path that is not absolute, a query and a host.
            Path folder = Path.of(URI.create("file:" + uri.getRawSchemeSpecificPart()));
            return new FolderLockStore(Files.createDirectories(folder), context);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("store URI: \"" + uri + "\" (expected: folder:/path/of/a/folder)", e);
        } catch (IOException e) {
            throw new StoreException(StoreException.Outcome.FATAL, uri + " cannot be made: " + e.getMessage(), e);
        }
    }
}
