package io.holdfast.verify.redis;

import io.holdfast.verify.redis.KeySpace.Kind;
import io.holdfast.verify.redis.KeySpace.Refusal;
import io.holdfast.verify.redis.KeySpace.Status;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** A model of a Redis server and the connections to it: transactions, what they watch, and subscriptions. */
final class RedisModel {

    /** Something the server says unasked. */
    interface Receiver {
        void message(String channel, String message);
    }

    /** The answer of a transaction that was not executed. */
    static final Object DISCARDED = new Object();

    final KeySpace keys;
    private final Set<Session> watching = new LinkedHashSet<>();
    private final Map<String, Set<Session>> subscribers = new LinkedHashMap<>();

    RedisModel(Kind kind, BiConsumer<String, KeySpace.@Nullable Entry> changes) {
        keys = new KeySpace(kind, (key, entry) -> {
            watching.forEach(session -> session.changed(key));
            changes.accept(key, entry);
        });
    }

    Session open(Receiver receiver) {
        return new Session(receiver);
    }

    /** The server's end of one connection. */
    final class Session {

        private final Receiver receiver;
        private final Set<String> watched = new LinkedHashSet<>();
        private final Set<String> channels = new LinkedHashSet<>();
        private @Nullable List<List<String>> queued;
        private boolean refusedOne;
        private boolean dirty;
        private boolean open = true;

        private Session(Receiver receiver) {
            this.receiver = receiver;
        }

        boolean isOpen() {
            return open;
        }

        void close() {
            open = false;
            forgetTransaction();
            List.copyOf(channels).forEach(this::unsubscribe);
        }

        /** A command of this connection; the answer as {@link KeySpace#execute}. */
        @Nullable
        Object execute(List<String> words, long now) {
            String command = words.get(0).toUpperCase(Locale.ROOT);
            boolean refused = !keys.knows(command);
            Refusal unknown = new Refusal("ERR unknown command '" + words.get(0) + "'");
            List<List<String>> transaction = queued;
            switch (command) {
                case "MULTI" -> {
                    if (transaction != null) {
                        return new Refusal("ERR MULTI calls can not be nested");
                    }
                    queued = new ArrayList<>();
                    return KeySpace.OK;
                }
                case "EXEC" -> {
                    return transaction == null ? new Refusal("ERR EXEC without MULTI") : executeAll(transaction, now);
                }
                case "WATCH" -> {
                    if (transaction != null) {
                        return new Refusal("ERR WATCH inside MULTI is not allowed");
                    }
                    words.subList(1, words.size()).forEach(key -> {
                        keys.expire(key, now);
                        watched.add(key);
                    });
                    watching.add(this);
                    return KeySpace.OK;
                }
                case "UNWATCH" -> {
                    if (transaction == null) {
                        forgetTransaction();
                        return KeySpace.OK;
                    }
                }
                default -> {}
            }
            if (transaction == null) {
                return refused ? unknown : executeNow(command, words, now);
            }
            if (refused) {
                refusedOne = true;
                return unknown;
            }
            transaction.add(words);
            return new Status("QUEUED");
        }

        private Object executeAll(List<List<String>> transaction, long now) {
            // A key that lasted when it was watched and whose time is over has changed, whether anybody has looked or
            // not.
            watched.forEach(key -> keys.expire(key, now));
            boolean changed = dirty;
            boolean refused = refusedOne;
            forgetTransaction();
            if (refused) {
                return new Refusal("EXECABORT Transaction discarded because of previous errors.");
            }
            if (changed) {
                return DISCARDED;
            }
            List<@Nullable Object> answers = new ArrayList<>();
            for (List<String> words : transaction) {
                answers.add(executeNow(words.get(0).toUpperCase(Locale.ROOT), words, now));
            }
            return answers;
        }

        private void forgetTransaction() {
            watched.clear();
            watching.remove(this);
            queued = null;
            refusedOne = false;
            dirty = false;
        }

        private void changed(String key) {
            dirty |= watched.contains(key);
        }

        private @Nullable Object executeNow(String command, List<String> words, long now) {
            return switch (command) {
                case "PING" -> new Status("PONG");
                case "UNWATCH" -> KeySpace.OK; // within a transaction, whose end does that anyway
                case "PUBLISH" -> publish(words.get(1), words.get(2));
                case "PUBSUB" -> {
                    if (!words.get(1).equals("NUMSUB") || words.size() != 3) {
                        throw KeySpace.unmodelled(words);
                    }
                    yield List.of(words.get(2), (long)
                            subscribers.getOrDefault(words.get(2), Set.of()).size());
                }
                case "SUBSCRIBE" -> subscribe(words.get(1));
                case "UNSUBSCRIBE" -> unsubscribe(words.get(1));
                case "COMMAND" -> describe(words);
                default -> keys.execute(replaced(words, command), now);
            };
        }

        private static List<String> replaced(List<String> words, String command) {
            List<String> all = new ArrayList<>(words);
            all.set(0, command);
            return all;
        }

        private Object subscribe(String channel) {
            channels.add(channel);
            subscribers.computeIfAbsent(channel, c -> new LinkedHashSet<>()).add(this);
            return List.of("subscribe", channel, (long) channels.size());
        }

        private Object unsubscribe(String channel) {
            channels.remove(channel);
            Set<Session> others = subscribers.get(channel);
            if (others != null && others.remove(this) && others.isEmpty()) {
                subscribers.remove(channel);
            }
            return List.of("unsubscribe", channel, (long) channels.size());
        }
    }

    private Object publish(String channel, String message) {
        Set<Session> receivers = subscribers.getOrDefault(channel, Set.of());
        receivers.forEach(session -> session.receiver.message(channel, message));
        return (long) receivers.size();
    }

    /** {@code COMMAND INFO} of two commands; {@code COMMAND DOCS}: whether SET has IFEQ. */
    private Object describe(List<String> words) {
        if (words.get(1).equals("INFO")) {
            List<@Nullable Object> found = new ArrayList<>();
            for (String command : words.subList(2, words.size())) {
                found.add(keys.knows(command.toUpperCase(Locale.ROOT)) ? List.of(command) : null);
            }
            return found;
        }
        if (words.get(1).equals("DOCS") && words.size() == 3 && words.get(2).equals("set")) {
            return keys.kind == Kind.REDIS_6
                    ? new Refusal("ERR Unknown subcommand or wrong number of arguments for 'DOCS'.")
                    : List.of("set", List.of("arguments", keys.kind.setIfeq ? List.of("NX", "IFEQ") : List.of("NX")));
        }
        throw KeySpace.unmodelled(words);
    }
}
