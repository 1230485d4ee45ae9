package io.holdfast.spi;

import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** See {@link StoreListener#renaming}. */
record RenamingListener(StoreListener receiver, Function<String, @Nullable String> names) implements StoreListener {

    private void pass(String name, Consumer<String> message) {
        String other = names.apply(name);
        if (other != null) {
            message.accept(other);
        }
    }

    @Override
    public void granted(String name, String holderId) {
        pass(name, other -> receiver.granted(other, holderId));
    }

    @Override
    public void granted(PushedGrant grant) {
        pass(grant.name(), other -> receiver.granted(grant.named(other)));
    }

    @Override
    public void contended(String name, String holderId) {
        pass(name, other -> receiver.contended(other, holderId));
    }

    @Override
    public void forced(String name, String holderId) {
        pass(name, other -> receiver.forced(other, holderId));
    }

    @Override
    public void released(String name) {
        pass(name, receiver::released);
    }

    @Override
    public void lost(String name, String holderId) {
        pass(name, other -> receiver.lost(other, holderId));
    }

    @Override
    public void connecting() {
        receiver.connecting();
    }

    @Override
    public void reconnected() {
        receiver.reconnected();
    }
}
