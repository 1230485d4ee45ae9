package io.holdfast.verify.redis;

import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.PushedGrant;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.verify.model.StateSearch.Step;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The hand-off between clients through the store's queue, as a formal model: the server is {@link ScriptModel}, the
 * very functions that the simulation runs; a client is the least that the engine does. Whatever is sent may be lost,
 * may be executed in any order, and once more than it was sent. A hold may run out at the server as soon as its owner's
 * own deadline has passed; that is all the model knows of time.
 *
 * <p>Each client takes the lock once or twice, the second time by release-and-requeue, and releases it.
 */
final class HandOffModel {

    /** Longer than the model goes on, in the server's time. */
    private static final long LEASE_MILLIS = 1_000_000;

    private static final String NAME = "a";

    enum Stage {
        IDLE,
        WAITING,
        HOLDING,
        /** Released here; at the server only when it hears of it. */
        RELEASED
    }

    /**
     * A client.
     *
     * @param use which of its uses of the lock this is; its holder id is made of it
     * @param deadlinePassed its lease, if it has one, is over by its own clock
     */
    record Client(Stage stage, int use, boolean deadlinePassed) {
        Client at(Stage next) {
            return new Client(next, use, false);
        }
    }

    /** A message on its way: a command to the server, or "granted" to a client. */
    record Message(String kind, int client, int use) {}

    /**
     * All there is.
     *
     * @param duplicates how many messages may still be doubled
     */
    record State(ScriptModel server, List<Client> clients, List<Message> network, int duplicates) {

        /** The server's state with a step done to it. */
        State with(@Nullable ScriptModel changed, int client, @Nullable Client now, List<Message> messages) {
            List<Client> others = new ArrayList<>(clients);
            if (now != null) {
                others.set(client, now);
            }
            List<Message> sorted = new ArrayList<>(messages);
            sorted.sort(Comparator.comparing(Message::toString));
            return new State(changed == null ? server : changed, List.copyOf(others), List.copyOf(sorted), duplicates);
        }

        List<Message> and(Message... more) {
            List<Message> messages = new ArrayList<>(network);
            // At most one of each kind: more of the same changes nothing that one delivered twice does not.
            for (Message message : more) {
                if (!messages.contains(message)) {
                    messages.add(message);
                }
            }
            return messages;
        }

        List<Message> without(Message message) {
            List<Message> messages = new ArrayList<>(network);
            messages.remove(message);
            return messages;
        }
    }

    private final int uses;
    private final int polls;

    /** A wrong client: it takes a pushed grant for a lease. */
    private final boolean trustsGrants;

    /**
     * Sets the bounds.
     *
     * @param uses how often each client takes the lock
     * @param polls how many messages may be on their way when a client asks
     */
    HandOffModel(int uses, int polls, boolean trustsGrants) {
        this.uses = uses;
        this.polls = polls;
        this.trustsGrants = trustsGrants;
    }

    static State initial(int clients, int duplicates, ScriptBug bug) {
        List<Client> all = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            all.add(new Client(Stage.IDLE, 0, false));
        }
        return new State(new ScriptModel(bug), all, List.of(), duplicates);
    }

    /** Two clients think that they hold. */
    static @Nullable String violation(State state) {
        List<Integer> holders = new ArrayList<>();
        for (int i = 0; i < state.clients().size(); i++) {
            Client client = state.clients().get(i);
            if (client.stage() == Stage.HOLDING && !client.deadlinePassed()) {
                holders.add(i);
            }
        }
        return holders.size() > 1 ? "two hold: " + holders : null;
    }

    /** All have had the lock, and it is free. */
    boolean isOver(State state) {
        return state.clients().stream().allMatch(c -> c.stage() == Stage.RELEASED && c.use() == uses - 1)
                && state.server().holder(0) == null;
    }

    List<Step<State>> next(State state) {
        List<Step<State>> steps = new ArrayList<>();
        for (int i = 0; i < state.clients().size(); i++) {
            ofClient(state, i, steps);
        }
        for (Message message : state.network()) {
            steps.add(new Step<>("lost: " + message, state.with(null, 0, null, state.without(message))));
            delivered(state, message, state.without(message), state.duplicates(), steps);
            if (state.duplicates() > 0) {
                delivered(state, message, state.network(), state.duplicates() - 1, steps);
            }
        }
        return steps;
    }

    private void ofClient(State state, int i, List<Step<State>> steps) {
        Client client = state.clients().get(i);
        switch (client.stage()) {
            case IDLE, WAITING -> {
                // The first command, or a poll.
                if (state.network().size() < polls) {
                    steps.add(new Step<>(
                            "client " + i + " asks",
                            state.with(
                                    null,
                                    i,
                                    client.at(Stage.WAITING),
                                    state.and(new Message("acquire", i, client.use())))));
                }
            }
            case HOLDING -> {
                if (!client.deadlinePassed()) {
                    steps.add(new Step<>(
                            "client " + i + "'s deadline passes",
                            state.with(null, i, new Client(Stage.HOLDING, client.use(), true), state.network())));
                }
                if (state.server().holder(0) != null && client.deadlinePassed()) {
                    steps.add(new Step<>(
                            "the hold of client " + i + " runs out",
                            state.with(expired(state, id(i, client.use())), i, null, state.network())));
                }
                if (client.use() + 1 < uses) {
                    steps.add(new Step<>(
                            "client " + i + " releases and queues",
                            state.with(
                                    null,
                                    i,
                                    new Client(Stage.WAITING, client.use() + 1, false),
                                    state.and(new Message("requeue", i, client.use())))));
                }
                steps.add(new Step<>(
                        "client " + i + " releases",
                        state.with(
                                null,
                                i,
                                client.at(Stage.RELEASED),
                                state.and(new Message("release", i, client.use())))));
            }
            case RELEASED -> {
                // Until the store confirms; here: until it is done.
                if (id(i, client.use()).equals(state.server().holder(0))) {
                    steps.add(new Step<>(
                            "client " + i + " releases again",
                            state.with(null, i, null, state.and(new Message("release", i, client.use())))));
                }
                if (client.use() + 1 < uses) {
                    steps.add(new Step<>(
                            "client " + i + " wants it again",
                            state.with(null, i, new Client(Stage.WAITING, client.use() + 1, false), state.network())));
                }
            }
        }
        // A hold that its client does not know of (a grant on its way, or withdrawn) runs out, too; what it knows of
        // later
        // it finds gone.
        for (int use = 0; use < uses; use++) {
            boolean known = client.use() == use && client.stage() == Stage.HOLDING;
            if (!known && id(i, use).equals(state.server().holder(0)) && !granted(state, i, use)) {
                steps.add(new Step<>(
                        "the hold " + id(i, use) + " runs out",
                        state.with(expired(state, id(i, use)), i, null, state.network())));
            }
        }
    }

    /** The reply "granted" is on its way; its deadline counts from the sending, and so has not passed. */
    private static boolean granted(State state, int client, int use) {
        return state.network().contains(new Message("confirmed", client, use));
    }

    private static @Nullable ScriptModel expired(State state, String id) {
        ScriptModel server = state.server().copy();
        if (!id.equals(server.holder(0))) {
            return null;
        }
        // Somebody will ask; then it is passed on as after any expiry.
        server.endByTime();
        return server;
    }

    private void delivered(State state, Message message, List<Message> rest, int duplicates, List<Step<State>> steps) {
        State left = new State(state.server(), state.clients(), List.copyOf(rest), duplicates);
        int i = message.client();
        Client client = state.clients().get(i);
        switch (message.kind()) {
            case "acquire" ->
                server(left, "executed: " + message, steps, (server, out) -> {
                    var reply = server.acquire(request(i, message.use()), Long.MAX_VALUE, 0, tell(out));
                    if (reply instanceof Granted) {
                        out.accept(new Message("confirmed", i, message.use()));
                    }
                });
            case "release" ->
                server(
                        left,
                        "executed: " + message,
                        steps,
                        (server, out) -> server.release(
                                ReleaseRequest.of(NAME, id(i, message.use())), Long.MAX_VALUE, 0, tell(out)));
            case "abandon" ->
                server(
                        left,
                        "executed: " + message,
                        steps,
                        (server, out) -> server.abandon(id(i, message.use()), 0, tell(out)));
            case "requeue" ->
                server(left, "executed: " + message, steps, (server, out) -> {
                    var reply = server.release(
                            ReleaseRequest.requeueing(NAME, id(i, message.use()), request(i, message.use() + 1)),
                            Long.MAX_VALUE,
                            0,
                            tell(out));
                    if (reply.requeued() instanceof Granted) {
                        out.accept(new Message("confirmed", i, message.use() + 1));
                    }
                });
            case "granted" -> {
                // A pushed grant is not a lease: it is confirmed by asking, or given back if nobody waits for it.
                boolean wanted = client.stage() == Stage.WAITING && client.use() == message.use();
                if (wanted && trustsGrants) {
                    steps.add(new Step<>(
                            "client " + i + " holds by " + message,
                            left.with(null, i, new Client(Stage.HOLDING, message.use(), false), left.network())));
                    return;
                }
                boolean held = client.stage() == Stage.HOLDING && client.use() == message.use();
                if (!held) {
                    steps.add(new Step<>(
                            "heard: " + message,
                            left.with(
                                    null,
                                    i,
                                    null,
                                    left.and(new Message(wanted ? "acquire" : "abandon", i, message.use())))));
                }
            }
            default -> {
                if (client.stage() == Stage.WAITING && client.use() == message.use()) {
                    steps.add(new Step<>(
                            "client " + i + " holds",
                            left.with(null, i, new Client(Stage.HOLDING, message.use(), false), left.network())));
                } else {
                    steps.add(new Step<>("too late: " + message, left.with(null, i, null, left.network())));
                }
            }
        }
    }

    private interface Command {
        void run(ScriptModel server, Consumer<Message> out);
    }

    private static void server(State state, String what, List<Step<State>> steps, Command command) {
        ScriptModel server = state.server().copy();
        List<Message> sent = new ArrayList<>();
        command.run(server, sent::add);
        server.forgetCounts();
        steps.add(new Step<>(what, state.with(server, 0, null, state.and(sent.toArray(new Message[0])))));
    }

    private static NameModel.Messenger tell(Consumer<Message> out) {
        return new NameModel.Messenger() {
            @Override
            public boolean granted(PushedGrant grant) {
                String id = grant.holderId();
                out.accept(new Message("granted", id.charAt(0) - '0', id.charAt(2) - '0'));
                return true;
            }

            @Override
            public void contended(String holderId) {
                // Changes how soon a client releases; here it may do so at any time.
            }

            @Override
            public void forced(String holderId) {
                // Changes how soon a client asks; here it may do so at any time.
            }
        };
    }

    private static AcquireRequest request(int client, int use) {
        return AcquireRequest.queueing(NAME, id(client, use), LEASE_MILLIS, LEASE_MILLIS);
    }

    private static String id(int client, int use) {
        return client + ":" + use;
    }
}
