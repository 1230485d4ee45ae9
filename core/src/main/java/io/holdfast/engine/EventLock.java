package io.holdfast.engine;

import io.holdfast.log.Log;
import io.holdfast.log.Quoted;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A lock under which the events of a state machine are handled one after the other, whichever threads they come from.
 * It is the only way to the state.
 *
 * <p>An event that comes while the same thread handles another waits in {@link #inbox}. An effect that wakes a thread
 * or runs user code is put into {@link #outbox} and runs after the lock is released.
 *
 * <p>It is a lock instead of having one: a field would cost one more object for each of ten thousand names, and one
 * more access to memory for each event.
 */
@SuppressWarnings("serial") // nobody writes it anywhere
public abstract class EventLock<S> extends ReentrantLock {

    private @Nullable ArrayDeque<Consumer<? super S>> inbox; // by lock; only while an event is handled, like the outbox
    private @Nullable List<Runnable> outbox; // by lock
    private boolean running; // by lock; an event is being handled by this thread

    /** Returns the lock name, for messages. */
    public abstract String name();

    /** Returns the name as observers see it: of anything but a lock, the kind stands before it. */
    public String shownName() {
        return name();
    }

    /** Returns what is asked of a pool here; null if this is a lock. */
    public @Nullable PoolRequest poolRequest() {
        return null;
    }

    /** Names what can be acquired here, in the middle of a sentence. */
    public String described() {
        return "lock " + Quoted.name(name());
    }

    /** Returns whether {@link #described} is more than one thing. */
    public boolean isPlural() {
        return false;
    }

    /** Returns the state that the events change. */
    abstract S state();

    /** Called under the lock after an event and the events that followed from it. */
    abstract void settle();

    /** Handles an event that has an answer, and returns the answer; {@code otherwise} if there is none. */
    final <T> T ask(T otherwise, Function<? super S, ? extends @Nullable T> event) {
        T answer = find(event);
        return answer == null ? otherwise : answer;
    }

    /** As {@link #ask}, with null if there is no answer: during another event, or if this one fails. */
    final <T> @Nullable T find(Function<? super S, ? extends @Nullable T> event) {
        AtomicReference<@Nullable T> answer = new AtomicReference<>();
        handle(state -> answer.set(event.apply(state)));
        return answer.get();
    }

    final void handle(Consumer<? super S> event) {
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

    private void runWithInbox(Consumer<? super S> event) {
        for (Consumer<? super S> next = event; next != null; next = inbox == null ? null : inbox.poll()) {
            try {
                next.accept(state());
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
    public final void later(Runnable effect) {
        if (outbox == null) {
            outbox = new ArrayList<>(2);
        }
        outbox.add(effect);
    }
}
