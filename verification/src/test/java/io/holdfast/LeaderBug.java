package io.holdfast;

import io.holdfast.spi.TimeSource;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** What could be wrong with a leadership. Switched on one at a time, to see that it is found. */
public enum LeaderBug {
    NONE,

    /** A term whose lease is not renewed is revoked when the lease ends. */
    REVOKED_AT_THE_DEADLINE,
    /** The close of a client ends its locks before its leaderships. */
    CLIENT_IS_CLOSED_FIRST,
    /** The lease of a listener that does not stop is renewed until it does. */
    STUCK_LISTENER_IS_RENEWED,
    /** {@code onElected} is called twice. */
    ELECTED_TWICE,
    /** A term shows the token of the candidate's term before. */
    TOKEN_OF_THE_FORMER_TERM,
    /** {@code onRevoked} does not wait for the end of {@code onElected}. */
    CALLS_AT_ONCE,
    /** The next campaign does not wait for the end of the listener's calls. */
    NEXT_TERM_BEFORE_THE_STOP,
    /** The lease is released before the listener has stopped. */
    RELEASED_BEFORE_THE_STOP,
    /** A renewal takes a revocation back. */
    REVOCATION_IS_TAKEN_BACK;

    /** Returns what makes the terms of one candidate. */
    TermRun.Maker terms() {
        if (this == TOKEN_OF_THE_FORMER_TERM) {
            return new FormerTokens();
        }
        return this == NONE || this == CLIENT_IS_CLOSED_FIRST ? TermRun::new : Wrong::new;
    }

    private final class Wrong extends TermRun {

        Wrong(
                LockClient client,
                String leadership,
                Lease lease,
                LeadershipListener listener,
                Executor thread,
                TimeSource time,
                Duration stopWithin) {
            super(client, leadership, lease, listener, thread, time, stopWithin);
        }

        @Override
        long leftNanos() {
            return LeaderBug.this == REVOKED_AT_THE_DEADLINE ? lease.remaining().toNanos() : super.leftNanos();
        }

        @Override
        void overdue() {
            if (LeaderBug.this != STUCK_LISTENER_IS_RENEWED) {
                super.overdue();
            }
        }

        @Override
        void elect() {
            super.elect();
            if (LeaderBug.this == ELECTED_TWICE) {
                super.elect();
            }
        }

        @Override
        void stopNext() {
            if (LeaderBug.this == CALLS_AT_ONCE) {
                stop();
                return;
            }
            if (LeaderBug.this == RELEASED_BEFORE_THE_STOP) {
                var unused = release(false);
            }
            super.stopNext();
        }

        @Override
        CompletableFuture<Boolean> over() {
            return LeaderBug.this == NEXT_TERM_BEFORE_THE_STOP ? released.thenApply(nothing -> false) : super.over();
        }

        @Override
        boolean leads() {
            return LeaderBug.this == REVOCATION_IS_TAKEN_BACK ? lease.isValid() : super.leads();
        }
    }

    private static final class FormerTokens implements TermRun.Maker {

        private @Nullable Long former;

        @Override
        public TermRun make(
                LockClient client,
                String leadership,
                Lease lease,
                LeadershipListener listener,
                Executor thread,
                TimeSource time,
                Duration stopWithin) {
            long token = former == null ? lease.fencingToken() : former;
            former = lease.fencingToken();
            Lease wrong = (Lease) Proxy.newProxyInstance(
                    Lease.class.getClassLoader(), new Class<?>[] {Lease.class}, (proxy, method, values) -> {
                        if (method.getName().equals("fencingToken")) {
                            return token;
                        }
                        try {
                            return method.invoke(lease, values);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
            return new TermRun(client, leadership, wrong, listener, thread, time, stopWithin);
        }
    }
}
