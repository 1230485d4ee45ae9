package io.holdfast.redis.member;

import io.holdfast.quorum.QuorumMember;
import io.holdfast.quorum.TokenRegister;
import io.holdfast.redis.connect.RedisCards;
import io.holdfast.redis.connect.RedisConnections;
import io.holdfast.redis.connect.RedisDiagnosis;
import io.holdfast.redis.lua.LuaScript;
import io.holdfast.redis.lua.ScriptReply;
import io.holdfast.redis.lua.Scripts;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.redis.server.RedisSettings;
import io.holdfast.spi.CardStore;
import io.holdfast.spi.Finding;
import io.holdfast.spi.ForceReply;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One server of a quorum. Each command is one Lua script, whose head documents its arguments and result. Keeps no state
 * of a lock.
 */
public final class RedisQuorumMember implements QuorumMember {

    private static final int RENEWALS_PER_COMMAND = 100;
    private static final int NOT_A_LOCK = -3;

    private final RedisSettings settings;
    private final RedisKeys keys;
    private final Scripts scripts;
    private final RedisErrors errors;
    private final RedisConnections connections;
    private final MemberMessages messages;
    private final RedisDiagnosis diagnosis;
    private final Runnable closing;
    private final String clientId;
    private final AtomicBoolean closed = new AtomicBoolean();

    /** @param closing closes the connections */
    public RedisQuorumMember(
            String clientId,
            RedisSettings settings,
            RedisKeys keys,
            Scripts scripts,
            RedisErrors errors,
            RedisConnections connections,
            MemberMessages messages,
            RedisDiagnosis diagnosis,
            Runnable closing) {
        this.settings = settings;
        this.keys = keys;
        this.scripts = scripts;
        this.errors = errors;
        this.connections = connections;
        this.messages = messages;
        this.diagnosis = diagnosis;
        this.closing = closing;
        this.clientId = clientId;
    }

    @Override
    public Optional<CardStore> cards() {
        return Optional.of(new RedisCards(connections, errors, keys, clientId));
    }

    @Override
    public CompletionStage<Vote> take(Take take) {
        Function<ScriptReply, Vote> vote = reply -> {
            Standing standing = standing(reply);
            boolean holds = reply.flag();
            boolean accepted = reply.flag();
            long register = reply.number();
            int waiting = reply.integer();
            if (holds) {
                return Vote.granted(standing, accepted, register, waiting);
            }
            long remaining = reply.number();
            return Vote.refused(standing, reply.text(), remaining, register, waiting);
        };
        return run(
                LuaScript.QUORUM_TAKE,
                take.name(),
                vote,
                take.id(),
                Long.toString(take.leaseMillis()),
                Long.toString(take.sequence()),
                Long.toString(take.proposal()),
                Long.toString(take.waitMillis()));
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
            CompletableFuture<List<Extended>> command =
                    scripts.run(LuaScript.QUORUM_EXTEND, extendedKeys(chunk), extensionArgs(chunk), reply -> {
                        Standing standing = standing(reply);
                        List<Extended> extended = new ArrayList<>(chunk.size());
                        chunk.forEach(extension ->
                                extended.add(new Extended(standing, found(reply.integer()), reply.integer())));
                        return extended;
                    });
            for (int i = 0; i < chunk.size(); i++) {
                int at = i;
                stages.add(command.thenApply(extended -> extended.get(at)));
            }
        }
        return stages;
    }

    private String[] extendedKeys(List<Extension> extensions) {
        List<String> names = new ArrayList<>(1 + 3 * extensions.size());
        names.add(keys.birth());
        for (Extension extension : extensions) {
            String[] all = keys.ofMember(extension.name());
            names.addAll(List.of(all[0], all[2], all[3]));
        }
        return names.toArray(new String[0]);
    }

    private static String[] extensionArgs(List<Extension> extensions) {
        return extensions.stream()
                .flatMap(extension -> Stream.of(
                        extension.id(),
                        Long.toString(extension.leaseMillis()),
                        Long.toString(extension.sequence()),
                        extension.exact() ? "1" : "0"))
                .toArray(String[]::new);
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
        return run(
                LuaScript.QUORUM_RELEASE,
                name,
                reply -> new Released(standing(reply), reply.flag(), reply.integer()),
                id,
                wake ? "1" : "0");
    }

    @Override
    public CompletionStage<Boolean> leave(String name) {
        return run(
                LuaScript.QUORUM_LEAVE,
                name,
                reply -> {
                    standing(reply);
                    return reply.flag();
                },
                clientId);
    }

    @Override
    public CompletionStage<Written> commit(String name, String id, long token) {
        return run(
                LuaScript.QUORUM_COMMIT,
                name,
                reply -> new Written(standing(reply), reply.flag(), reply.number()),
                id,
                Long.toString(token));
    }

    @Override
    public CompletionStage<Seen> inspect(String name) {
        return run(
                LuaScript.QUORUM_INSPECT,
                name,
                reply -> {
                    Standing standing = standing(reply);
                    long remaining = reply.number();
                    TokenRegister register = new TokenRegister(reply.number(), reply.text());
                    int waiting = reply.integer();
                    return new Seen(standing, reply.text(), remaining, register, waiting);
                },
                "");
    }

    @Override
    public CompletionStage<ForceReply> forceRelease(String name, @Nullable String holder) {
        Function<ScriptReply, ForceReply> forced = reply -> {
            standing(reply);
            int code = reply.integer();
            String held = reply.text();
            return switch (code) {
                case NOT_A_LOCK -> throw errors.notDeleted(name, held);
                case 0 -> new ForceReply.Free();
                case 1 -> new ForceReply.Ended(held);
                default -> new ForceReply.HeldBy(held);
            };
        };
        return holder == null
                ? run(LuaScript.QUORUM_FORCE, name, forced)
                : run(LuaScript.QUORUM_FORCE, name, forced, holder);
    }

    @Override
    public CompletionStage<Identity> identify() {
        // INFO and the birth by two commands: admit, which decides, compares again.
        CompletionStage<Standing> looked =
                scripts.run(LuaScript.QUORUM_LOOK, birth(), new String[0], RedisQuorumMember::standing);
        return MemberInfo.of(connections, errors).thenCombine(looked, MemberInfo::identity);
    }

    @Override
    public CompletionStage<Standing> admit(long quarantineMillis) {
        return MemberInfo.of(connections, errors).thenCompose(info -> {
            String[] args = {info.runId(), UUID.randomUUID().toString(), Long.toString(quarantineMillis)};
            return scripts.run(LuaScript.QUORUM_ADMIT, birth(), args, RedisQuorumMember::standing);
        });
    }

    private String[] birth() {
        return new String[] {keys.birth()};
    }

    @Override
    public CompletionStage<List<Finding>> diagnose(double clockDrift) {
        return diagnosis.ofMember(describe(), clockDrift);
    }

    @Override
    public void listen(@Nullable Listener listener) {
        messages.listen(listener);
    }

    @Override
    public Duration recovery() {
        return settings.recovery();
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

    /** Runs a script about one lock. All of these begin with the same argument. */
    private <T> CompletionStage<T> run(LuaScript script, String name, Function<ScriptReply, T> result, String... more) {
        String[] args = new String[1 + more.length];
        args[0] = keys.clientChannels();
        System.arraycopy(more, 0, args, 1, more.length);
        return scripts.run(script, keys.ofMember(name), args, result);
    }

    private static Standing standing(ScriptReply reply) {
        return new Standing(reply.text(), reply.number());
    }
}
