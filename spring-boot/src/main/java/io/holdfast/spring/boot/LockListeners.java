package io.holdfast.spring.boot;

import io.holdfast.LockListener;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/** Several listeners as one; an exception of one does not keep an event from the next. */
final class LockListeners implements LockListener {

    private static final System.Logger LOG = System.getLogger(LockListeners.class.getName());

    private final List<LockListener> all;

    LockListeners(List<LockListener> all) {
        this.all = List.copyOf(all);
    }

    @Override
    public void acquired(String name, long fencingToken, Duration waited) {
        tell(each -> each.acquired(name, fencingToken, waited));
    }

    @Override
    public void notAcquired(String name, Duration waited, Outcome how, String why) {
        tell(each -> each.notAcquired(name, waited, how, why));
    }

    @Override
    public void released(String name, long fencingToken, Duration held) {
        tell(each -> each.released(name, fencingToken, held));
    }

    @Override
    public void lost(String name, long fencingToken, String why) {
        tell(each -> each.lost(name, fencingToken, why));
    }

    @Override
    public void renewalFailed(String name, Throwable cause) {
        tell(each -> each.renewalFailed(name, cause));
    }

    private void tell(Consumer<LockListener> event) {
        for (LockListener each : all) {
            try {
                event.accept(each);
            } catch (RuntimeException e) {
                LOG.log(System.Logger.Level.ERROR, "The listener " + each + " failed", e);
            }
        }
    }
}
