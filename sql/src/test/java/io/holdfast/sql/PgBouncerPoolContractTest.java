package io.holdfast.sql;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.testkit.contract.PoolContract;
import org.junit.jupiter.api.Tag;

@Tag("deep")
class PgBouncerPoolContractTest extends PoolContract {

    @Override
    protected LockStore open(StoreContext context) {
        return Databases.open(Databases.pgBouncer() + "&createTable=true", context);
    }

    @Override
    protected boolean timesGrants() {
        return false;
    }
}
