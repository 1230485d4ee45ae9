package io.holdfast;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A lock under which events are handled one after the other, whichever threads they come from.
 *
 * <p>An event that comes while the same thread handles another waits in {@link #inbox}. An effect that wakes a thread
 * or runs user code is put into {@link #outbox} and runs after the lock is released.
 *
 * <p>It is a lock instead of having one: a field would cost one more object for each of very many names, and one more
 * access to memory for each event.
 */
@SuppressWarnings("serial") // nobody writes it anywhere
abstract class EventLock extends ReentrantLock {

    private @Nullable ArrayDeque<Runnable> inbox; // by lock; only while an event is handled, like the outbox
    private @Nullable List<Runnable> outbox; // by lock
    private boolean running; // by lock; an event is being handled by this thread

    /** Returns the lock name, for messages. */
    abstract String name();

    /** Called under the lock after an event and the events that followed from it. */
    abstract void settle();

    final void handle(Runnable event) {
        List<Runnable> after;
        lock();
        try {
            if (running) {
                if (inbox == null) {
                    inbox = new ArrayDeque<>(2);
                }
                inbox.add(event);
                return;
            }
            running = true;
            try {
                runWithInbox(event);
            } finally {
                // Even when the log could not be written, for example at the end of a stack.
                running = false;
            }
            settle();
            after = outbox;
            outbox = null;
        } finally {
            unlock();
        }
        if (after != null) {
            after.forEach(this::runEffect);
        }
    }

    /** Logs what an effect throws, so that callers that wait for the other effects receive them. */
    private void runEffect(Runnable effect) {
        try {
            effect.run();
        } catch (Throwable e) {
            Log.LOG.log(
                    System.Logger.Level.ERROR, "Effect of an event for the lock " + Quoted.name(name()) + " failed", e);
        }
    }

    private void runWithInbox(Runnable event) {
        for (Runnable next = event; next != null; next = inbox == null ? null : inbox.poll()) {
            try {
                next.run();
            } catch (Throwable e) {
                // No caller can handle it: the thread may be an I/O thread, or may wait for another name. The decisions
                // made so far must still reach the waiters.
                Log.LOG.log(
                        System.Logger.Level.ERROR,
                        "An event for the lock " + Quoted.name(name()) + " failed; this is a defect in Holdfast",
                        e);
            }
        }
        inbox = null;
    }

    /** Runs an effect after the lock is released. */
    final void later(Runnable effect) {
        if (outbox == null) {
            outbox = new ArrayList<>(2);
        }
        outbox.add(effect);
    }
}
