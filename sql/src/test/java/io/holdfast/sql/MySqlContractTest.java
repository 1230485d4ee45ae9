package io.holdfast.sql;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.testkit.contract.LockStoreContract;
import org.junit.jupiter.api.Tag;

@Tag("deep")
class MySqlContractTest extends LockStoreContract {

    @Override
    protected LockStore open(StoreContext context) {
        return Databases.open(Databases.url(SqlSettings.Kind.MYSQL), context);
    }

    @Override
    protected boolean timesGrants() {
        return true;
    }
}
