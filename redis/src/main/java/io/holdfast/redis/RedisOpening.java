package io.holdfast.redis;

import io.holdfast.redis.commands.CompareProbe;
import io.holdfast.redis.connect.ClusterConnections;
import io.holdfast.redis.connect.DedicatedConnections;
import io.holdfast.redis.connect.Heartbeat;
import io.holdfast.redis.connect.Publishing;
import io.holdfast.redis.connect.RedisConnections;
import io.holdfast.redis.connect.RedisMessages;
import io.holdfast.redis.connect.ServerConnections;
import io.holdfast.redis.lua.LuaLockStore;
import io.holdfast.redis.lua.LuaScript;
import io.holdfast.redis.lua.OpeningSteps;
import io.holdfast.redis.lua.RedisProbe;
import io.holdfast.redis.lua.Scripts;
import io.holdfast.redis.server.Log;
import io.holdfast.redis.server.OpeningErrors;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.redis.server.RedisSettings;
import io.holdfast.redis.server.RedisSettings.Topology;
import io.holdfast.redis.server.ServerInfo;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Connects a store and finds out whether the server can be used. */
final class RedisOpening {

    private static final Pattern VERSION = Pattern.compile("^(\\d+)\\.");
    private static final int MAJOR_VERSION_MIN = 5;
    private static final int PROBED_SLOTS_MAX = 100;
    private static final int BATCHED_NAMES = 64;
    private static final Duration RETRY = Duration.ofMillis(100);

    private final RedisSettings settings;
    private final StoreContext context;
    private final OpeningErrors errors;
    private final OpeningSteps steps;
    private final RedisErrors commandErrors;
    private final RedisConnections connections;

    /** Once the store is open, if it is the one without scripts. */
    private volatile @Nullable CommandsOpening withoutScripts;

    /** The server refused to run the first script. */
    private static final class NoScriptsException extends Exception {
        private static final long serialVersionUID = 1;

        final String said;
        final boolean keysForbidden;
        final RedisCommandExecutionException cause;

        NoScriptsException(String said, RedisCommandExecutionException cause) {
            super(cause);
            this.said = said;
            this.cause = cause;
            this.keysForbidden = OpeningErrors.isAboutKeys(said);
        }
    }

    private RedisOpening(RedisSettings settings, StoreContext context) {
        this.settings = settings;
        this.context = context;
        this.errors = new OpeningErrors(settings);
        this.steps = new OpeningSteps(settings, errors);
        boolean cluster = settings.topology() == Topology.CLUSTER;
        this.commandErrors = new RedisErrors(settings.describe(), settings.timeout(), cluster);
        this.connections = cluster
                ? new ClusterConnections(settings, context.time())
                : new ServerConnections(settings, context.time());
    }

    static LockStore open(RedisSettings settings, StoreContext context) {
        long began = context.time().nanoTime();
        while (true) {
            RedisOpening opening = new RedisOpening(settings, context);
            try {
                return new KeyedStore(opening.open(), settings.lockKeys());
            } catch (RuntimeException e) {
                opening.connections.close();
                if (!opening.mayPass(e, context.time().nanoTime() - began)) {
                    throw e;
                }
            }
            LockSupport.parkNanos(RETRY.toNanos());
        }
    }

    /**
     * Sentinels close all connections of a server to which they give another role: who opens in that moment is cut off, or
     * told of a master that is none any more. For other servers, whoever opens wants to know at once that they are away.
     */
    private boolean mayPass(RuntimeException failure, long tookNanos) {
        return settings.topology() == Topology.SENTINEL
                && failure instanceof StoreException said
                && said.outcome() != StoreException.Outcome.FATAL
                && tookNanos < settings.timeout().toNanos()
                && !Thread.currentThread().isInterrupted();
    }

    private LockStore open() {
        RedisKeys keys = new RedisKeys(settings.internalPrefix());
        RedisMessages messages = new RedisMessages(keys.clientChannels(), settings.minReplicas() > 0, context.time());
        connections.onConnecting(messages::connecting);
        steps.connect(connections.connect(() -> {
            CommandsOpening opened = withoutScripts;
            if (opened != null) {
                opened.reconnected();
            }
            messages.missed();
        }));
        connections.servers().forEach(this::look);
        Publishing publishing = publishing(keys);
        Scripts scripts = new Scripts(connections, publishing, commandErrors, context.time());
        String whyCommands = whyCommands(scripts, keys);
        CommandsOpening commands = whyCommands == null ? null : commands(keys, whyCommands);
        withoutScripts = commands;
        steps.subscribe(
                connections.subscribe(keys, context.clientId(), publishing, messages),
                "waiting clients only poll, and are served late",
                settings.internalPrefix() + ":c:* and redisson_lock__channel:*");

        Heartbeat heartbeat = new Heartbeat(context.time(), settings.heartbeat(), () -> {
            connections.beat();
            if (commands != null) {
                commands.beat();
            }
        });
        heartbeat.start();
        Runnable closing = () -> {
            heartbeat.stop();
            connections.close();
        };
        return commands != null
                ? commands.store(
                        keys, messages, below -> ThreadLocalRandom.current().nextLong(below), closing)
                : new LuaLockStore(settings, keys, scripts, commandErrors, connections, messages, closing);
    }

    /** Sharded messages only where every node knows them: otherwise some grants would reach nobody. */
    private Publishing publishing(RedisKeys keys) {
        if (settings.topology() != Topology.CLUSTER) {
            return Publishing.PLAIN;
        }
        for (RedisClusterAsyncCommands<String, String> server : connections.servers()) {
            try {
                steps.await(server.spublish(keys.clientChannels() + context.clientId(), ""));
            } catch (ExecutionException e) {
                // Whatever else it says (a redirection, that it is loading) tells nothing about the command.
                String said = String.valueOf(e.getMessage());
                if (said.contains("unknown command") || said.contains("NOPERM")) {
                    Log.LOG.log(System.Logger.Level.DEBUG, settings.describe() + " has no sharded channels", e);
                    return Publishing.PLAIN;
                }
            }
        }
        return Publishing.sharded(settings.redissonChannels());
    }

    /** Why locks are kept without scripts; null if they are kept by scripts. */
    private @Nullable String whyCommands(Scripts scripts, RedisKeys keys) {
        if (settings.mode() == RedisMode.COMMANDS) {
            return "as configured";
        }
        try {
            probe(scripts, keys);
        } catch (NoScriptsException e) {
            if (settings.mode() == RedisMode.LUA || e.keysForbidden) {
                throw errors.noScripts(e.said, e.cause);
            }
            // Some servers go on with all arguments.
            return "because it runs no scripts for this user: " + e.said.split(",", 2)[0];
        }
        steps.load(LuaScript.OF_STORES, scripts, connections.servers());
        Log.LOG.log(
                System.Logger.Level.INFO,
                settings.describe() + ": locks are kept by scripts (mode lua), "
                        + (settings.mode() == RedisMode.LUA ? "as configured" : "because it runs them for this user"));
        return null;
    }

    private CommandsOpening commands(RedisKeys keys, String why) {
        if (settings.minReplicas() > 0) {
            throw errors.noReplicasWithoutScripts(why);
        }
        DedicatedConnections dedicated = new DedicatedConnections(
                connections::dedicated, connections::server, context.time(), settings.timeout(), commandErrors);
        CompareProbe compare = new CompareProbe(connections, dedicated, commandErrors, probed(keys));
        try {
            CommandsOpening opened = new CommandsOpening(
                    settings, context, connections, commandErrors, dedicated, compare, steps.await(compare.run()));
            Log.LOG.log(
                    System.Logger.Level.INFO,
                    settings.describe() + ": locks are kept without scripts (mode commands), " + why + "; "
                            + opened.choice());
            return opened;
        } catch (ExecutionException e) {
            throw commandErrors.of(e);
        }
    }

    /** Refuses a server that is too old, and warns of settings that endanger locks. */
    private void look(RedisClusterAsyncCommands<String, String> commands) {
        ServerInfo info;
        try {
            info = new ServerInfo(steps.await(commands.info()));
        } catch (ExecutionException e) {
            // Not everybody is allowed to ask; what the server cannot do will show.
            return;
        }
        Matcher version = VERSION.matcher(info.version());
        if (version.find() && Integer.parseInt(version.group(1)) < MAJOR_VERSION_MIN) {
            throw errors.tooOld(info.version());
        }
        info.warnings().forEach(said -> Log.LOG.log(System.Logger.Level.WARNING, settings.describe() + " " + said));
    }

    /** Reads the server's time, and makes sure that no script will be stopped half-way for want of a right. */
    private void probe(Scripts scripts, RedisKeys keys) throws NoScriptsException {
        String[] probed = probed(keys);
        RedisProbe.Found found;
        try {
            found = new RedisProbe(scripts, connections, commandErrors, steps)
                    .find(probed, batch(keys), keys.clientChannels() + context.clientId());
        } catch (StoreException failure) {
            if (failure.outcome() == StoreException.Outcome.FATAL
                    && failure.getCause() instanceof RedisCommandExecutionException said) {
                throw new NoScriptsException(String.valueOf(said.getMessage()), said);
            }
            throw failure;
        }
        connections.clock(probed[0]).observe(found.serverMillis());
        // A replica, say, or a full server: that may pass.
        if (!found.said().isEmpty()
                && commandErrors.refused(found.said(), null).outcome() == StoreException.Outcome.FATAL) {
            throw errors.noCommands(found.missingRights());
        }
        if (!found.allowed().pushes()) {
            Log.LOG.log(
                    System.Logger.Level.INFO,
                    settings.describe() + " does not let scripts publish, so a release leaves the lock free and"
                            + " sends a hint after it");
        }
    }

    /** Keys that nobody uses: in a cluster, of one that can be reached now. Others may be failing over. */
    private String[] probed(RedisKeys keys) {
        for (int i = 1; i < PROBED_SLOTS_MAX; i++) {
            String[] probed = keys.probe(context.clientId() + "." + i);
            if (connections.reaches(probed[0])) {
                return probed;
            }
        }
        return keys.probe(context.clientId());
    }

    /**
     * Names of different slots, where one server serves them all; so many that a proxy in front of several has hardly put all
     * of them on the same.
     */
    private String[] batch(RedisKeys keys) {
        if (settings.topology() == Topology.CLUSTER) {
            String[] one = probed(keys);
            return new String[] {one[0], one[1]};
        }
        List<String> batch = new ArrayList<>();
        for (int i = 0; i < BATCHED_NAMES; i++) {
            String[] one = keys.probe(i + context.clientId());
            batch.addAll(List.of(one[0], one[1]));
        }
        return batch.toArray(new String[0]);
    }
}
