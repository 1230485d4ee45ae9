package io.holdfast.zookeeper;

import io.holdfast.spi.TimeSource;

/** Takes every write for something that the leader counts from. */
final class WrongContacts extends SessionClock {

    private WrongContacts(TimeSource time) {
        super(time);
    }

    static SessionClock of(EnsembleBug bug, TimeSource time) {
        return bug == EnsembleBug.PROMISE_FROM_THE_WRITE ? new WrongContacts(time) : new SessionClock(time);
    }

    @Override
    long promiseMillis(long timeoutMillis, boolean steady) {
        return timeoutMillis * 2 / 3;
    }

    @Override
    boolean hasWrittenWithin(long nanos) {
        return true;
    }
}
