package io.holdfast.sql;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.testkit.contract.LockStoreContract;

class H2ContractTest extends LockStoreContract {

    @Override
    protected LockStore open(StoreContext context) {
        return Databases.open(Databases.H2, context);
    }

    @Override
    protected boolean timesGrants() {
        return true;
    }
}
