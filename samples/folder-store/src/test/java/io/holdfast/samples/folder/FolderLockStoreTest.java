package io.holdfast.samples.folder;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.testkit.contract.LockStoreContract;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** The contract of every store, less the queue and the messages that this store does not have. */
class FolderLockStoreTest extends LockStoreContract {

    @TempDir
    static Path folder;

    @Override
    protected LockStore open(StoreContext context) {
        return new FolderLockStore(folder, context);
    }

    @Override
    protected boolean hasQueue() {
        return false;
    }

    @Override
    protected boolean sendsMessages() {
        return false;
    }
}
