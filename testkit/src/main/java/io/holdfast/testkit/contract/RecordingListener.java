package io.holdfast.testkit.contract;

import io.holdfast.spi.PushedGrant;
import io.holdfast.spi.StoreListener;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Keeps the messages of a store in the order of their arrival. Thread-safe.
 *
 * <pre>{@code
 * RecordingListener told = new RecordingListener();
 * store.listen(told);
 * store.acquire(AcquireRequest.queueing("order:42", holderId, 30_000, 1_000));      // another client holds order:42
 * other.release(ReleaseRequest.of("order:42", otherHolderId));
 * await().until(() -> told.messages(RecordingListener.Kind.GRANTED).size() == 1);
 * }</pre>
 */
public final class RecordingListener implements StoreListener {

    /** The kinds of messages, with the names of the methods of {@link StoreListener}. */
    public enum Kind {
        GRANTED,
        CONTENDED,
        FORCED,
        RELEASED,
        RECONNECTED,
        LOST
    }

    /**
     * A message.
     *
     * @param name the lock name, or empty if the kind has none
     * @param holderId the holder id, or empty if the kind has none
     */
    public record Message(Kind kind, String name, String holderId) {}

    private final List<Message> messages = new CopyOnWriteArrayList<>();
    private final List<PushedGrant> grants = new CopyOnWriteArrayList<>();

    @Override
    public void granted(String name, String holderId) {
        messages.add(new Message(Kind.GRANTED, name, holderId));
    }

    @Override
    public void granted(PushedGrant grant) {
        grants.add(grant);
        granted(grant.name(), grant.holderId());
    }

    @Override
    public void contended(String name, String holderId) {
        messages.add(new Message(Kind.CONTENDED, name, holderId));
    }

    @Override
    public void forced(String name, String holderId) {
        messages.add(new Message(Kind.FORCED, name, holderId));
    }

    @Override
    public void released(String name) {
        messages.add(new Message(Kind.RELEASED, name, ""));
    }

    @Override
    public void reconnected() {
        messages.add(new Message(Kind.RECONNECTED, "", ""));
    }

    @Override
    public void lost(String name, String holderId) {
        messages.add(new Message(Kind.LOST, name, holderId));
    }

    /** Returns the grants so far that say since when they last. */
    public List<PushedGrant> grants() {
        return List.copyOf(grants);
    }

    /** Returns all messages so far. */
    public List<Message> messages() {
        return List.copyOf(messages);
    }

    /** Returns the messages of one kind so far. */
    public List<Message> messages(Kind kind) {
        return messages.stream().filter(message -> message.kind() == kind).toList();
    }
}
