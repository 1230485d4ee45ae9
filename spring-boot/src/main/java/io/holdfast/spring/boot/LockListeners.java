package io.holdfast.spring.boot;

import io.holdfast.LockListener;
import io.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/** Passes every event to several listeners. An exception of one listener does not keep the event from the next. */
final class LockListeners implements LockListener {

    private static final System.Logger LOG = System.getLogger(LockListeners.class.getName());

    private final List<LockListener> all;

    LockListeners(List<LockListener> all) {
        this.all = List.copyOf(all);
    }

    @Override
    public void acquired(String name, long fencingToken, Duration waited) {
        notifyEach(each -> each.acquired(name, fencingToken, waited));
    }

    @Override
    public void notAcquired(String name, Duration waited, Outcome how, String why) {
        notifyEach(each -> each.notAcquired(name, waited, how, why));
    }

    @Override
    public void released(String name, long fencingToken, Duration held) {
        notifyEach(each -> each.released(name, fencingToken, held));
    }

    @Override
    public void lost(String name, long fencingToken, Duration held, String why) {
        notifyEach(each -> each.lost(name, fencingToken, held, why));
    }

    @Override
    public void renewalFailed(String name, Throwable cause) {
        notifyEach(each -> each.renewalFailed(name, cause));
    }

    @Override
    public void handedOn(String name, long fencingToken) {
        notifyEach(each -> each.handedOn(name, fencingToken));
    }

    @Override
    public void renewed(int locks, int failed, Duration took) {
        notifyEach(each -> each.renewed(locks, failed, took));
    }

    @Override
    public void storeFailed(String name, String command, StoreException cause) {
        notifyEach(each -> each.storeFailed(name, command, cause));
    }

    @Override
    public void reconnected() {
        notifyEach(LockListener::reconnected);
    }

    @Override
    public void clockJumped(Duration by) {
        notifyEach(each -> each.clockJumped(by));
    }

    private void notifyEach(Consumer<LockListener> event) {
        for (LockListener each : all) {
            try {
                event.accept(each);
            } catch (RuntimeException e) {
                LOG.log(System.Logger.Level.ERROR, "The listener " + each + " failed", e);
            }
        }
    }
}
