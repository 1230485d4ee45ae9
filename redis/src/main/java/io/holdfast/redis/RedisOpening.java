package io.holdfast.redis;

import io.holdfast.redis.commands.CompareProbe;
import io.holdfast.redis.connect.ClusterConnections;
import io.holdfast.redis.connect.DedicatedConnections;
import io.holdfast.redis.connect.Heartbeat;
import io.holdfast.redis.connect.RedisCards;
import io.holdfast.redis.connect.RedisConnections;
import io.holdfast.redis.connect.RedisDiagnosis;
import io.holdfast.redis.connect.ServerConnections;
import io.holdfast.redis.lua.LuaLockStore;
import io.holdfast.redis.lua.LuaScript;
import io.holdfast.redis.lua.ScriptHead;
import io.holdfast.redis.lua.Scripts;
import io.holdfast.redis.messages.Publishing;
import io.holdfast.redis.messages.RedisMessages;
import io.holdfast.redis.server.Log;
import io.holdfast.redis.server.OpeningErrors;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.redis.server.RedisSettings;
import io.holdfast.redis.server.RedisSettings.Topology;
import io.holdfast.redis.server.RefusedCommands;
import io.holdfast.redis.server.ServerInfo;
import io.holdfast.spi.Finding;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Connects a store, and finds out in which mode it can use the server. */
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

    /** Findings about the mode and what it lacks; complete before the store is returned. */
    private final List<Finding> findings = new ArrayList<>();

    /** Whether each slot has a counter of its own, because a script may not use keys of two. */
    private volatile boolean countsPerSlot;

    /** The commands that pools need and this user may not run; known once the server was probed. */
    private RefusedCommands refusedToPools = new RefusedCommands(Map.of());

    /** Whether a grant may help if scripts are refused; not if the server has no command that runs them. */
    private boolean grantHelps = true;

    /** The opening of mode {@code commands}; null until that mode is chosen, and in mode {@code lua}. */
    private volatile @Nullable CommandsOpening modeCommands;

    private RedisOpening(RedisSettings settings, StoreContext context) {
        settings.nameConnections(context);
        this.settings = settings;
        this.context = context;
        this.errors = new OpeningErrors(settings);
        this.steps = new OpeningSteps(settings, errors);
        boolean cluster = settings.topology() == Topology.CLUSTER;
        this.countsPerSlot = cluster;
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
                return new KeyedStore(
                        opening.open(),
                        settings.lockKeys(),
                        Optional.of(new RedisCards(
                                opening.connections, opening.commandErrors, opening.keys(), context.clientId())),
                        key -> opening.diagnosis().of(key));
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
     * Returns whether a failure may pass soon. Sentinels close all connections of a server to which they give another
     * role. A client that connects at that moment is cut off, or is sent to a former master.
     */
    private boolean mayPass(RuntimeException failure, long tookNanos) {
        return settings.topology() == Topology.SENTINEL
                && failure instanceof StoreException said
                && said.outcome() != StoreException.Outcome.FATAL
                && tookNanos < settings.timeout().toNanos()
                && !Thread.currentThread().isInterrupted();
    }

    private LockStore open() {
        RedisKeys keys = keys();
        RedisMessages messages = new RedisMessages(keys, settings.minReplicas() > 0, context.time());
        connections.onConnecting(messages::connecting);
        steps.connect(connections.connect(() -> {
            CommandsOpening opened = modeCommands;
            if (opened != null) {
                opened.reconnected();
            }
            messages.missed();
        }));
        connections.servers().forEach(this::checkServer);
        Publishing publishing = publishing(keys);
        Scripts scripts = new Scripts(
                LuaScript.OF_STORES,
                connections,
                new ScriptHead(publishing, keys.clientChannels(), settings.topology() == Topology.CLUSTER),
                commandErrors,
                context.time());
        String commandsReason = commandsReason(scripts, keys);
        CommandsOpening commands = commandsReason == null ? null : commands(keys, commandsReason);
        modeCommands = commands;
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
        if (commands != null) {
            return commands.store(
                    keys, messages, bound -> ThreadLocalRandom.current().nextLong(bound), closing);
        }
        return new LuaLockStore(
                settings,
                keys(),
                scripts,
                commandErrors,
                connections,
                messages,
                context.time(),
                refusedToPools,
                closing);
    }

    private RedisDiagnosis diagnosis() {
        boolean cluster = settings.topology() == Topology.CLUSTER;
        return new RedisDiagnosis(
                connections, keys(), context.clientId(), context.time(), cluster, List.copyOf(findings));
    }

    /** Returns the keys. In mode {@code lua} they are known once the server was probed. */
    private RedisKeys keys() {
        return countsPerSlot
                ? RedisKeys.ofCluster(settings.internalPrefix())
                : RedisKeys.ofServer(settings.internalPrefix());
    }

    /** Returns sharded messages only where every node takes them: otherwise some grants would reach no client. */
    private Publishing publishing(RedisKeys keys) {
        if (settings.topology() != Topology.CLUSTER) {
            return Publishing.of(false, settings.redissonChannels());
        }
        for (RedisClusterAsyncCommands<String, String> server : connections.servers()) {
            try {
                steps.await(server.spublish(keys.clientChannels() + context.clientId(), ""));
            } catch (ExecutionException e) {
                // Other errors (a redirection, a server that is loading its data) do not concern the command.
                if (commandErrors.of(e).outcome() == StoreException.Outcome.FATAL) {
                    Log.LOG.log(System.Logger.Level.DEBUG, settings.describe() + " has no sharded channels", e);
                    return Publishing.of(false, settings.redissonChannels());
                }
            }
        }
        return Publishing.of(true, settings.redissonChannels());
    }

    /** Returns the reason for using mode {@code commands}; null for mode {@code lua}. */
    private @Nullable String commandsReason(Scripts scripts, RedisKeys keys) {
        if (settings.mode() == RedisMode.COMMANDS) {
            return "as configured";
        }
        try {
            probe(scripts, keys);
        } catch (StoreException failure) {
            if (failure.outcome() != StoreException.Outcome.FATAL
                    || !(failure.getCause() instanceof RedisCommandExecutionException refusal)) {
                throw failure;
            }
            String said = String.valueOf(refusal.getMessage());
            if (settings.mode() == RedisMode.LUA || (said.startsWith("NOPERM") && runsScripts())) {
                throw errors.noScripts(said, refusal);
            }
            grantHelps = !RedisErrors.isUnknownCommand(said);
            // Some servers append all arguments.
            return "because the server runs no scripts for this user: " + said.split(",", 2)[0];
        }
        steps.load(LuaScript.OF_STORES, scripts, connections.servers());
        String choice = "using Lua scripts (mode lua), "
                + (settings.mode() == RedisMode.LUA ? "as configured" : "because the server runs them for this user");
        Log.LOG.log(System.Logger.Level.DEBUG, settings.describe() + ": " + choice);
        findings.add(Finding.ok("mode", choice));
        findings.addAll(scripts.allowed().findings());
        return null;
    }

    /**
     * Returns whether this user may run a script without keys, by its text or its digest: then the keys were refused.
     */
    private boolean runsScripts() {
        RedisClusterAsyncCommands<String, String> commands = connections.commands();
        return isAllowed(commands.eval("return 1", ScriptOutputType.INTEGER))
                || isAllowed(commands.evalsha("0".repeat(40), ScriptOutputType.INTEGER));
    }

    private boolean isAllowed(CompletionStage<?> script) {
        try {
            steps.await(script);
            return true;
        } catch (ExecutionException e) {
            return RedisErrors.unwrap(e) instanceof RedisNoScriptException;
        }
    }

    private CommandsOpening commands(RedisKeys keys, String why) {
        if (settings.minReplicas() > 0) {
            throw errors.noReplicasInModeCommands(why);
        }
        DedicatedConnections dedicated =
                new DedicatedConnections(connections::dedicated, connections::server, context.time(), commandErrors);
        CompareProbe compare = new CompareProbe(connections, dedicated, commandErrors, probed(keys));
        try {
            CommandsOpening opened = new CommandsOpening(
                    settings, context, connections, commandErrors, dedicated, compare, steps.await(compare.run()));
            String choice = "using no scripts (mode commands), " + why + "; " + opened.choice();
            Log.LOG.log(System.Logger.Level.INFO, settings.describe() + ": " + choice);
            findings.add(
                    settings.mode() == RedisMode.COMMANDS
                            ? Finding.ok("mode", choice)
                            : Finding.warning(
                                    "mode",
                                    choice + "; so there is no fair queue at the server",
                                    (grantHelps ? "allow this user +evalsha +eval, or " : "")
                                            + "set mode=commands if this is intended"));
            return opened;
        } catch (ExecutionException e) {
            throw commandErrors.of(e);
        }
    }

    /** Refuses a server that is too old, and warns of settings that endanger locks. */
    private void checkServer(RedisClusterAsyncCommands<String, String> commands) {
        ServerInfo info;
        try {
            info = new ServerInfo(steps.await(commands.info()));
        } catch (ExecutionException e) {
            // This user may not ask; the probe finds out what the server cannot do.
            return;
        }
        Matcher version = VERSION.matcher(info.version());
        if (version.find() && Integer.parseInt(version.group(1)) < MAJOR_VERSION_MIN) {
            throw errors.tooOld(info.version());
        }
        info.warnings().forEach(said -> Log.LOG.log(System.Logger.Level.WARNING, settings.describe() + " " + said));
    }

    /** Reads the server's time, and makes sure that no script will be stopped half-way for lack of a right. */
    private void probe(Scripts scripts, RedisKeys keys) {
        String[] probed = probed(keys);
        RedisProbe.Found found = new RedisProbe(scripts, connections, commandErrors, steps)
                .find(probed, batch(keys), keys.clientChannels() + context.clientId());
        connections.clock(probed[0]).observe(found.serverMillis());
        refusedToPools = found.refusedToPools();
        if (found.refusesTwoSlots()) {
            // Behind a proxy there is a cluster.
            countsPerSlot = true;
        }
        if (!found.refused().isEmpty()) {
            throw errors.noCommands("the mode lua", found.refused());
        }
        if (!found.allowed().pushes()) {
            Log.LOG.log(
                    System.Logger.Level.INFO,
                    settings.describe() + " does not let scripts publish, so a release leaves the lock free and"
                            + " sends a hint after it");
        }
    }

    /** Returns keys that no lock uses; in a cluster, keys of a connected master, as others may be failing over. */
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
     * Returns locks, then their queues, of different slots where one server serves them all. They are so many that a
     * proxy in front of several servers would hardly have put all of them on one.
     */
    private String[] batch(RedisKeys keys) {
        if (settings.topology() == Topology.CLUSTER) {
            String[] one = probed(keys);
            return new String[] {one[0], one[1]};
        }
        String[] batch = new String[2 * BATCHED_NAMES];
        for (int i = 0; i < BATCHED_NAMES; i++) {
            String[] one = keys.probe(i + context.clientId());
            batch[i] = one[0];
            batch[BATCHED_NAMES + i] = one[1];
        }
        return batch;
    }
}
