package io.holdfast.redis;

import io.holdfast.redis.commands.CommandsLockStore;
import io.holdfast.redis.commands.CompareProbe;
import io.holdfast.redis.commands.CompareWays;
import io.holdfast.redis.commands.NativeWays;
import io.holdfast.redis.connect.DedicatedConnections;
import io.holdfast.redis.connect.RedisConnections;
import io.holdfast.redis.messages.RedisMessages;
import io.holdfast.redis.server.Log;
import io.holdfast.redis.server.OpeningErrors;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.redis.server.RedisSettings;
import io.holdfast.spi.StoreContext;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongUnaryOperator;

/** Opens a store in mode {@code commands}, and chooses its commands again when the server may be another one. */
final class CommandsOpening {

    private final RedisSettings settings;
    private final StoreContext context;
    private final RedisConnections connections;
    private final RedisErrors errors;
    private final DedicatedConnections dedicated;
    private final CompareProbe probe;
    private final CompareWays ways;
    private final AtomicBoolean probing = new AtomicBoolean();

    /** Whether the present choice was tried on the server that is connected now. */
    private volatile boolean tried;

    /** Takes the first finding; throws if no way is safe. */
    CommandsOpening(
            RedisSettings settings,
            StoreContext context,
            RedisConnections connections,
            RedisErrors errors,
            DedicatedConnections dedicated,
            CompareProbe probe,
            CompareProbe.Finding first) {
        this.settings = settings;
        this.context = context;
        this.connections = connections;
        this.errors = errors;
        this.dedicated = dedicated;
        this.probe = probe;
        if (!first.refused().isEmpty()) {
            throw new OpeningErrors(settings).noCommands("the mode commands", first.refused());
        }
        if (!first.isSafe()) {
            throw new OpeningErrors(settings).noSafeWay();
        }
        this.tried = first.tried();
        this.ways = new CompareWays(new NativeWays(connections), dedicated, first.choice());
    }

    CompareWays.Choice choice() {
        return ways.choice();
    }

    /**
     * Creates the store.
     *
     * @param random returns a random number below its argument
     * @param closing closes the connections
     */
    CommandsLockStore store(RedisKeys keys, RedisMessages messages, LongUnaryOperator random, Runnable closing) {
        return new CommandsLockStore(
                new CommandsLockStore.Parts(
                        settings.describe(),
                        settings.recovery(),
                        context.clientId(),
                        connections,
                        keys,
                        ways,
                        errors,
                        messages,
                        context.time(),
                        random),
                () -> {
                    dedicated.close();
                    closing.run();
                });
    }

    /** Chooses again, because a lost connection is back, perhaps to another server. */
    void reconnected() {
        tried = false;
        chooseAgain();
    }

    /** Keeps the dedicated connections alive, and repeats a choice that failed. Called at intervals. */
    void beat() {
        dedicated.beat();
        if (!tried) {
            chooseAgain();
        }
    }

    private void chooseAgain() {
        if (!probing.compareAndSet(false, true)) {
            return;
        }
        CompletionStage<CompareProbe.Finding> finding;
        try {
            finding = probe.run();
        } catch (RuntimeException e) {
            // Not connected, or closed: the next beat tries again if the store is still open.
            probing.set(false);
            return;
        }
        finding.whenComplete((found, error) -> {
            probing.set(false);
            if (error == null) {
                choose(found);
            }
        });
    }

    private void choose(CompareProbe.Finding found) {
        if (!found.isSafe()) {
            // The old choice stays: commands that the server refuses fail with its error.
            Log.LOG.log(
                    System.Logger.Level.WARNING,
                    new OpeningErrors(settings).noSafeWay().getMessage());
            return;
        }
        tried = found.tried();
        if (!found.choice().equals(ways.choice())) {
            ways.choose(found.choice());
            Log.LOG.log(System.Logger.Level.INFO, settings.describe() + " now " + found.choice());
        }
    }
}
