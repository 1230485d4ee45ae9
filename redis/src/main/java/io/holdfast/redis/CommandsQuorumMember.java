package io.holdfast.redis;

import io.holdfast.redis.MemberTransactions.Step;
import io.holdfast.redis.MemberTransactions.Write;
import io.holdfast.spi.HolderId;
import io.holdfast.spi.QuorumMember;
import io.holdfast.spi.TokenRegister;
import io.lettuce.core.SetArgs;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One server of a quorum, without scripts: {@link RedisQuorumMember}'s commands as transactions. The keys and what is in
 * them are the same, so clients of both kinds may use one server at once. Keeps no state of a lock.
 */
final class CommandsQuorumMember implements QuorumMember {

    private static final long REGISTER_MILLIS = 86_400_000;
    private static final int TOLD = 3;

    private final RedisSettings settings;
    private final RedisKeys keys;
    private final RedisErrors errors;
    private final RedisConnections connections;
    private final MemberTransactions transactions;
    private final MemberMessages messages;
    private final Runnable closing;
    private final String clientId;
    private final AtomicBoolean closed = new AtomicBoolean();

    /** @param closing closes the connections */
    CommandsQuorumMember(
            String clientId,
            RedisSettings settings,
            RedisKeys keys,
            RedisErrors errors,
            RedisConnections connections,
            MemberTransactions transactions,
            MemberMessages messages,
            Runnable closing) {
        this.settings = settings;
        this.keys = keys;
        this.errors = errors;
        this.connections = connections;
        this.transactions = transactions;
        this.messages = messages;
        this.closing = closing;
        this.clientId = clientId;
    }

    @Override
    public CompletionStage<Vote> take(Take take) {
        String[] all = keys.ofMember(take.name());
        String client = HolderId.client(take.id());
        boolean[] first = new boolean[1];
        CompletableFuture<Vote> vote = transactions.run(all, view -> {
            boolean busy = !view.holder().isEmpty() && !view.holder().equals(take.id());
            first[0] = busy
                    && take.waitMillis() > 0
                    && view.waitsSince(client) == 0
                    && view.waitingBeside(client).isEmpty();
            return busy ? busy(view, take, client, all) : taken(view, take, client, all);
        });
        return vote.thenApply(answer -> {
            if (first[0]) {
                tell(HolderId.client(answer.holder()), "c", answer.holder(), take.name());
            }
            return answer;
        });
    }

    private static Step<Vote> busy(MemberView view, Take take, String client, String[] all) {
        List<Write> writes = new ArrayList<>();
        if (take.waitMillis() > 0) {
            long since = view.waitsSince(client) > 0 ? view.waitsSince(client) : view.now();
            long patience = 3 * take.waitMillis();
            // Before the client is noted: it may be one of those who are gone.
            dropGone(view, all, writes);
            writes.add(commands -> commands.hset(all[2], client, since + ":" + (view.now() + patience)));
            writes.add(commands -> commands.pexpire(all[2], Math.max(patience, view.waitingExpiry())));
        }
        return new Step<>(
                new Vote(
                        view.standing(),
                        false,
                        view.holder(),
                        view.remaining(),
                        false,
                        view.token().token(),
                        view.waitingBeside(client).size()),
                writes);
    }

    private static Step<Vote> taken(MemberView view, Take take, String client, String[] all) {
        List<Write> writes = new ArrayList<>();
        boolean lengthens = take.sequence() >= view.settings(take.id()) && view.remaining() < take.leaseMillis();
        if (view.holder().isEmpty() || lengthens) {
            writes.add(commands -> commands.set(all[0], take.id(), lasting(take.leaseMillis())));
            remember(take.sequence(), take.id(), take.leaseMillis(), all, writes);
        }
        if (view.waiting().containsKey(client)) {
            writes.add(commands -> commands.hdel(all[2], client));
        }
        boolean accepted = write(view, take.proposal(), take.id(), all, writes);
        return new Step<>(
                new Vote(
                        view.standing(),
                        true,
                        "",
                        0,
                        accepted,
                        accepted ? take.proposal() : view.token().token(),
                        view.waitingBeside(client).size()),
                writes);
    }

    /** Whether the register takes the token. */
    private static boolean write(MemberView view, long token, String id, String[] all, List<Write> writes) {
        TokenRegister register = view.token();
        if (!register.admits(token, id)) {
            return false;
        }
        writes.add(commands -> commands.set(all[1], token + " " + id, lasting(REGISTER_MILLIS)));
        return true;
    }

    private static void remember(long sequence, String id, long leaseMillis, String[] all, List<Write> writes) {
        if (sequence > 0) {
            writes.add(commands -> commands.set(all[3], sequence + " " + id, lasting(leaseMillis)));
        }
    }

    private static void dropGone(MemberView view, String[] all, List<Write> writes) {
        String[] gone = view.gone();
        if (gone.length > 0) {
            writes.add(commands -> commands.hdel(all[2], gone));
        }
    }

    private static SetArgs lasting(long millis) {
        return SetArgs.Builder.px(millis);
    }

    @Override
    public CompletionStage<Extended> extend(Extension extension) {
        String[] all = keys.ofMember(extension.name());
        return transactions.run(all, view -> extended(view, extension, all));
    }

    private static Step<Extended> extended(MemberView view, Extension extension, String[] all) {
        List<Write> writes = new ArrayList<>();
        Found found = found(view, extension, all, writes);
        return new Step<>(new Extended(view.standing(), found, view.waiting().size()), writes);
    }

    /** A plain renewal only ever lengthens; an exact one sets, also to less, and only if its sequence is new. */
    private static Found found(MemberView view, Extension extension, String[] all, List<Write> writes) {
        if (!view.holder().equals(extension.id())) {
            return view.holder().isEmpty() ? Found.ABSENT : Found.TAKEN;
        }
        long seen = view.settings(extension.id());
        if (extension.sequence() < seen) {
            return Found.SUPERSEDED;
        }
        long lease = extension.leaseMillis();
        if (extension.exact() && extension.sequence() == seen) {
            return view.remaining() >= lease ? Found.HELD : Found.SUPERSEDED;
        }
        remember(extension.sequence(), extension.id(), Math.max(view.remaining(), lease), all, writes);
        if (extension.exact() || view.remaining() < lease) {
            // Not PEXPIRE: before 6.0.9, EXEC does not notice that a watched key has ended, and there would be none.
            writes.add(commands -> commands.set(all[0], extension.id(), lasting(lease)));
        }
        return Found.HELD;
    }

    @Override
    public CompletionStage<Released> release(String name, String id, boolean wake) {
        String[] all = keys.ofMember(name);
        List<String> waiting = new ArrayList<>();
        CompletableFuture<Released> released = transactions.run(all, view -> {
            boolean held = view.holder().equals(id);
            waiting.clear();
            waiting.addAll(view.waitingBeside(""));
            return new Step<>(
                    new Released(
                            view.standing(),
                            held,
                            view.waitingBeside(HolderId.client(id)).size()),
                    held ? deletion(all) : List.of());
        });
        return released.thenApply(answer -> {
            if (answer.wasHeld() && wake) {
                wake(name, waiting, 0);
            }
            return answer;
        });
    }

    private static List<Write> deletion(String[] all) {
        return List.of(commands -> commands.del(all[0], all[3]));
    }

    /** Tells the first three of those who wait, one after the other; who is not there any more is passed over. */
    private void wake(String name, List<String> waiting, int rank) {
        if (waiting.isEmpty() || rank == TOLD) {
            return;
        }
        String client = waiting.remove(0);
        connections
                .commands()
                .publish(keys.clientChannels() + client, "r " + rank + " " + name)
                .whenComplete((heard, error) -> {
                    if (error == null && heard == 0) {
                        var unused = connections.commands().hdel(keys.ofMember(name)[2], client);
                        wake(name, waiting, rank);
                    } else {
                        wake(name, waiting, rank + 1);
                    }
                });
    }

    private void tell(String client, String kind, String detail, String name) {
        var unused = connections.commands().publish(keys.clientChannels() + client, kind + " " + detail + " " + name);
    }

    @Override
    public CompletionStage<Boolean> leave(String name) {
        String[] all = keys.ofMember(name);
        return transactions
                .<Long>inTurn(all[0], () -> connections.commands().hdel(all[2], clientId))
                .thenApply(left -> left == 1);
    }

    @Override
    public CompletionStage<Written> commit(String name, String id, long token) {
        String[] all = keys.ofMember(name);
        return transactions.run(all, view -> {
            List<Write> writes = new ArrayList<>();
            boolean accepted = write(view, token, id, all, writes);
            return new Step<>(
                    new Written(
                            view.standing(),
                            accepted,
                            accepted ? token : view.token().token()),
                    writes);
        });
    }

    @Override
    public CompletionStage<Seen> inspect(String name) {
        return transactions.run(
                keys.ofMember(name),
                view -> new Step<>(
                        new Seen(
                                view.standing(),
                                view.holder(),
                                view.holder().isEmpty() ? 0 : view.remaining(),
                                view.token(),
                                view.waitingBeside("").size()),
                        List.of()));
    }

    @Override
    public CompletionStage<Optional<String>> forceRelease(String name) {
        String[] all = keys.ofMember(name);
        List<String> waiting = new ArrayList<>();
        CompletableFuture<Optional<String>> forced = transactions.run(all, view -> {
            waiting.clear();
            waiting.addAll(view.waitingBeside(""));
            return view.holder().isEmpty()
                    ? new Step<>(Optional.empty(), List.of())
                    : new Step<>(Optional.of(view.holder()), deletion(all));
        });
        return forced.thenApply(holder -> {
            if (holder.isPresent()) {
                wake(name, waiting, 0);
            }
            return holder;
        });
    }

    // --- who it is ---

    /** The server's time and the birth. */
    private record Life(long now, String birth) {
        Standing standing() {
            return new Standing(birth, Math.max(0, MemberView.votesFrom(birth) - now));
        }
    }

    private CompletionStage<Life> life(RedisClusterAsyncCommands<String, String> commands) {
        CompletableFuture<List<String>> time = commands.time().toCompletableFuture();
        CompletableFuture<String> birth = commands.get(keys.birth()).toCompletableFuture();
        return time.thenCombine(
                birth, (now, born) -> new Life(MemberTransactions.millis(now), MemberTransactions.text(born)));
    }

    @Override
    public CompletionStage<Identity> identify() {
        return MemberInfo.of(connections, errors)
                .thenCombine(errors.told(life(connections.commands())), (info, life) -> info.identity(life.standing()));
    }

    @Override
    public CompletionStage<Standing> admit(long quarantineMillis) {
        return MemberInfo.of(connections, errors)
                .thenCompose(info -> transactions.run(new String[] {keys.birth()}, this::life, life -> {
                    if (MemberView.runIdOf(life.birth()).equals(info.runId())) {
                        return new Step<>(life.standing(), List.of());
                    }
                    String birth = UUID.randomUUID() + ":" + info.runId() + ":" + (life.now() + quarantineMillis);
                    return new Step<>(
                            new Standing(birth, quarantineMillis),
                            List.of(commands -> commands.set(keys.birth(), birth)));
                }));
    }

    /** Fails if the server refuses transactions. Changes nothing. */
    CompletionStage<Standing> check() {
        return transactions.run(
                new String[] {keys.birth()}, this::life, life -> new Step<>(life.standing(), List.of()));
    }

    // --- the rest ---

    @Override
    public void listen(@Nullable Listener listener) {
        messages.listen(listener);
    }

    @Override
    public String describe() {
        return settings.describe();
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            messages.listen(null);
            closing.run();
        }
    }

    @Override
    public String toString() {
        return describe();
    }
}
