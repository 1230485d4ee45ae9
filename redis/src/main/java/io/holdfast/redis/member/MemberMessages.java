package io.holdfast.redis.member;

import io.holdfast.quorum.QuorumMember;
import io.holdfast.redis.messages.ClientChannel;
import org.jspecify.annotations.Nullable;

/**
 * The messages of one member of a quorum for this client. {@code r <rank> <name>} says that a lock was released, {@code
 * c <id> <name>} that a client waits behind this id, and {@code f <id> <name>} that the hold of this id was ended by
 * force.
 */
public final class MemberMessages extends ClientChannel {

    private volatile QuorumMember.@Nullable Listener listener;

    public MemberMessages(String channel) {
        super(channel);
    }

    void listen(QuorumMember.@Nullable Listener receiver) {
        listener = receiver;
    }

    /** Reports that the connection for commands was lost, and is about to take commands again. */
    public void connecting() {
        QuorumMember.Listener receiver = listener;
        if (receiver != null) {
            receiver.connecting();
        }
    }

    /** Reports that the connection for commands or the one for messages was lost, and is back. */
    @Override
    public void resubscribed() {
        QuorumMember.Listener receiver = listener;
        if (receiver != null) {
            receiver.reconnected();
        }
    }

    @Override
    public void message(String from, String message) {
        QuorumMember.Listener receiver = listener;
        int space = message.indexOf(' ', 2);
        if (receiver == null || space < 0) {
            return;
        }
        String detail = message.substring(2, space);
        String name = message.substring(space + 1);
        if (message.startsWith("r ") && detail.matches("\\d")) {
            receiver.released(name, Integer.parseInt(detail));
        } else if (message.startsWith("c ")) {
            receiver.contended(name, detail);
        } else if (message.startsWith("f ")) {
            receiver.forced(name, detail);
        }
    }
}
