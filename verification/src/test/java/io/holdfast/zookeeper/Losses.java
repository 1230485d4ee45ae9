package io.holdfast.zookeeper;

import io.holdfast.spi.StoreListener;
import java.util.List;

/** Takes note of the holds that a store says are lost, and of nothing else. */
record Losses(List<String> holderIds) implements StoreListener {

    @Override
    public void granted(String name, String holderId) {}

    @Override
    public void contended(String name, String holderId) {}

    @Override
    public void released(String name) {}

    @Override
    public void reconnected() {}

    @Override
    public void lost(String name, String holderId) {
        holderIds.add(holderId);
    }
}
