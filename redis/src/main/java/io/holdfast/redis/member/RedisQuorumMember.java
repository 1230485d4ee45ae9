package io.holdfast.redis.member;

import io.holdfast.redis.connect.RedisConnections;
import io.holdfast.redis.lua.LuaScript;
import io.holdfast.redis.lua.Scripts;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.redis.server.RedisSettings;
import io.holdfast.spi.QuorumMember;
import io.holdfast.spi.TokenRegister;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One server of a quorum, by Lua scripts: each command is one. The scripts' heads say what arguments and replies mean.
 * Keeps no state of a lock.
 */
public final class RedisQuorumMember implements QuorumMember {

    private static final int RENEWALS_PER_COMMAND = 100;

    private final RedisSettings settings;
    private final RedisKeys keys;
    private final Scripts scripts;
    private final RedisErrors errors;
    private final RedisConnections connections;
    private final MemberMessages messages;
    private final Runnable closing;
    private final String clientId;
    private final AtomicBoolean closed = new AtomicBoolean();

    /** @param closing closes the connections */
    RedisQuorumMember(
            String clientId,
            RedisSettings settings,
            RedisKeys keys,
            Scripts scripts,
            RedisErrors errors,
            RedisConnections connections,
            MemberMessages messages,
            Runnable closing) {
        this.settings = settings;
        this.keys = keys;
        this.scripts = scripts;
        this.errors = errors;
        this.connections = connections;
        this.messages = messages;
        this.closing = closing;
        this.clientId = clientId;
    }

    @Override
    public CompletionStage<Vote> take(Take take) {
        String[] args = {
            keys.clientChannels(),
            take.id(),
            Long.toString(take.leaseMillis()),
            Long.toString(take.sequence()),
            Long.toString(take.proposal()),
            Long.toString(take.waitMillis())
        };
        return run(LuaScript.QUORUM_TAKE, take.name(), args, reply -> {
            boolean holds = integer(reply, 2) == 1;
            return new Vote(
                    standing(reply),
                    holds,
                    holds ? "" : (String) reply.get(7),
                    holds ? 0 : (Long) reply.get(6),
                    integer(reply, 3) == 1,
                    (Long) reply.get(4),
                    integer(reply, 5));
        });
    }

    @Override
    public CompletionStage<Extended> extend(Extension extension) {
        return extendAll(List.of(extension)).get(0);
    }

    @Override
    public List<CompletionStage<Extended>> extendAll(List<Extension> extensions) {
        List<CompletionStage<Extended>> stages = new ArrayList<>(extensions.size());
        for (int from = 0; from < extensions.size(); from += RENEWALS_PER_COMMAND) {
            List<Extension> chunk = extensions.subList(from, Math.min(from + RENEWALS_PER_COMMAND, extensions.size()));
            CompletableFuture<List<Object>> command = scripts.run(
                    LuaScript.QUORUM_EXTEND,
                    extendedKeys(chunk),
                    extensionArgs(chunk),
                    (reply, outcome) -> outcome.complete(reply));
            for (int i = 0; i < chunk.size(); i++) {
                int at = 2 + 2 * i;
                stages.add(command.thenApply(
                        reply -> new Extended(standing(reply), found(integer(reply, at)), integer(reply, at + 1))));
            }
        }
        return stages;
    }

    private String[] extendedKeys(List<Extension> extensions) {
        String[] names = new String[1 + 3 * extensions.size()];
        int at = 0;
        names[at++] = keys.birth();
        for (Extension extension : extensions) {
            String[] all = keys.ofMember(extension.name());
            names[at++] = all[0];
            names[at++] = all[2];
            names[at++] = all[3];
        }
        return names;
    }

    private static String[] extensionArgs(List<Extension> extensions) {
        String[] args = new String[4 * extensions.size()];
        int at = 0;
        for (Extension extension : extensions) {
            args[at++] = extension.id();
            args[at++] = Long.toString(extension.leaseMillis());
            args[at++] = Long.toString(extension.sequence());
            args[at++] = extension.exact() ? "1" : "0";
        }
        return args;
    }

    private static Found found(int code) {
        return switch (code) {
            case 0 -> Found.ABSENT;
            case 1 -> Found.HELD;
            case 2 -> Found.SUPERSEDED;
            default -> Found.TAKEN;
        };
    }

    @Override
    public CompletionStage<Released> release(String name, String id, boolean wake) {
        String[] args = {keys.clientChannels(), id, wake ? "1" : "0"};
        return run(
                LuaScript.QUORUM_RELEASE,
                name,
                args,
                reply -> new Released(standing(reply), integer(reply, 2) == 1, integer(reply, 3)));
    }

    @Override
    public CompletionStage<Boolean> leave(String name) {
        String[] args = {keys.clientChannels(), clientId};
        return run(LuaScript.QUORUM_LEAVE, name, args, reply -> integer(reply, 2) == 1);
    }

    @Override
    public CompletionStage<Written> commit(String name, String id, long token) {
        String[] args = {keys.clientChannels(), id, Long.toString(token)};
        return run(
                LuaScript.QUORUM_COMMIT,
                name,
                args,
                reply -> new Written(standing(reply), integer(reply, 2) == 1, (Long) reply.get(3)));
    }

    @Override
    public CompletionStage<Seen> inspect(String name) {
        String[] args = {keys.clientChannels(), ""};
        return run(
                LuaScript.QUORUM_INSPECT,
                name,
                args,
                reply -> new Seen(
                        standing(reply),
                        (String) reply.get(6),
                        (Long) reply.get(2),
                        new TokenRegister((Long) reply.get(3), (String) reply.get(4)),
                        integer(reply, 5)));
    }

    @Override
    public CompletionStage<Optional<String>> forceRelease(String name) {
        String[] args = {keys.clientChannels(), ""};
        return scripts.run(LuaScript.QUORUM_FORCE, keys.ofMember(name), args, (reply, outcome) -> {
            String held = (String) reply.get(2);
            if (integer(reply, 3) == 0) {
                outcome.completeExceptionally(errors.notDeleted(name, held));
            } else {
                outcome.complete(held.isEmpty() ? Optional.empty() : Optional.of(held));
            }
        });
    }

    // --- who it is ---

    @Override
    public CompletionStage<Identity> identify() {
        // INFO and the birth by two commands: what matters is decided by admit, which compares again.
        CompletionStage<Standing> looked = scripts.run(
                LuaScript.QUORUM_LOOK,
                new String[] {keys.birth()},
                new String[0],
                (reply, outcome) -> outcome.complete(standing(reply)));
        return MemberInfo.of(connections, errors).thenCombine(looked, MemberInfo::identity);
    }

    @Override
    public CompletionStage<Standing> admit(long quarantineMillis) {
        return MemberInfo.of(connections, errors)
                .thenCompose(info -> scripts.<Standing>run(
                        LuaScript.QUORUM_ADMIT,
                        new String[] {keys.birth()},
                        new String[] {info.runId(), UUID.randomUUID().toString(), Long.toString(quarantineMillis)},
                        (reply, outcome) -> outcome.complete(standing(reply))));
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
            scripts.close();
            closing.run();
        }
    }

    @Override
    public String toString() {
        return describe();
    }

    private <T> CompletionStage<T> run(
            LuaScript script, String name, String[] args, Function<List<Object>, T> decoder) {
        return scripts.run(
                script, keys.ofMember(name), args, (reply, outcome) -> outcome.complete(decoder.apply(reply)));
    }

    private static Standing standing(List<Object> reply) {
        return new Standing((String) reply.get(0), (Long) reply.get(1));
    }

    private static int integer(List<Object> reply, int index) {
        return ((Long) reply.get(index)).intValue();
    }
}
