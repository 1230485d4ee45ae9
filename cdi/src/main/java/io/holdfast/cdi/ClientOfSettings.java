package io.holdfast.cdi;

import io.holdfast.LockClient;
import jakarta.enterprise.inject.Instance;
import jakarta.enterprise.inject.build.compatible.spi.Parameters;
import jakarta.enterprise.inject.build.compatible.spi.SyntheticBeanCreator;
import jakarta.enterprise.inject.build.compatible.spi.SyntheticBeanDisposer;

/**
 * Opens the client of the settings {@code holdfast.*}, and closes it with the container. The container calls it.
 *
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/cdi.md">Jakarta CDI</a>
 */
public final class ClientOfSettings implements SyntheticBeanCreator<LockClient>, SyntheticBeanDisposer<LockClient> {

    @Override
    public LockClient create(Instance<Object> lookup, Parameters params) {
        Meters meters = lookup.select(Meters.class).get();
        LockClient client = Settings.open(meters.listener());
        meters.watch(client);
        return client;
    }

    @Override
    public void dispose(LockClient client, Instance<Object> lookup, Parameters params) {
        client.close();
    }
}
