package io.holdfast.verify.engine;

import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreException.Outcome;
import io.holdfast.spi.TimeSource;
import java.util.ArrayDeque;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * A process's connection to one server through a bad network. Requests, replies and messages are delayed (so also
 * reordered), lost and doubled; the connection breaks at every point of a command that matters. A command without an
 * answer in time fails with an unknown outcome, and may still be executed later.
 */
public final class SimLine {

    public static final long COMMAND_TIMEOUT_NANOS = 500_000_000;
    private static final long RECONNECT_NANOS = 50_000_000;

    /** The server at the other end. */
    public interface Host {
        boolean isDown();

        /** Something arrives: it happens at once, or when the server runs again, or never. */
        void receive(Runnable event);
    }

    /** Learns of the connection's fate. */
    public interface Listener {
        void connected();

        /** Messages arrive again; later than commands work, so some may have been missed. */
        void listensAgain();

        /** The server has noticed that the process is gone. */
        void deaf();
    }

    /** Where the connection of a command ends. */
    private enum Cut {
        NOWHERE,
        BEFORE_THE_SENDING,
        BEFORE_THE_EXECUTION,
        BEFORE_THE_REPLY;

        private static final List<Cut> CUTS = List.of(BEFORE_THE_SENDING, BEFORE_THE_EXECUTION, BEFORE_THE_REPLY);
    }

    // Made once: the stack traces of exceptions would be most of what a bad network costs.
    private final StoreException notConnected = new StoreException(Outcome.NOT_EXECUTED, "not connected", null);
    private final StoreException noAnswer = new StoreException(Outcome.UNKNOWN, "no answer in time", null);
    private final StoreException broken = new StoreException(Outcome.UNKNOWN, "the connection broke", null);

    private final VirtualTime world;
    private final SimTime process;
    private final Host host;
    private final Weather weather;
    private final SplittableRandom random;
    private final Listener listener;

    /** Commands without an outcome yet, in the order of their sending; some that have one may still be among them. */
    private final ArrayDeque<Command<?>> inFlight = new ArrayDeque<>();

    private final Way there = new Way();
    private final Way back = new Way();
    private long cutOffUntilNanos;

    /** False from a break to the next successful connection. */
    private boolean connected = true;

    /** Whether the server finds a receiver for this process's messages. A vanished machine keeps its subscription. */
    private boolean listening = true;

    public SimLine(
            VirtualTime world,
            SimTime process,
            Host host,
            Weather weather,
            SplittableRandom random,
            Listener listener) {
        this.world = world;
        this.process = process;
        this.host = host;
        this.weather = weather;
        this.random = random;
        this.listener = listener;
    }

    /** Whether a command that failed so may be executed at any time: its connection ended, and not its patience. */
    public boolean mayBeUnderWay(Throwable why) {
        return why instanceof StoreException known && known.outcome() == Outcome.UNKNOWN && !known.equals(noAnswer);
    }

    public boolean isListening() {
        return listening;
    }

    public boolean isQuiet() {
        return inFlight.stream().noneMatch(command -> command.open);
    }

    public void die(boolean silently) {
        listening = silently;
        if (!silently) {
            listener.deaf();
        }
    }

    /** Breaks the connection, and allows no new one for some time. */
    public void cutOff(long nanos) {
        cutOffUntilNanos = world.nanoTime() + nanos;
        breakConnection();
    }

    /** A new connection is allowed. */
    public void heal() {
        cutOffUntilNanos = world.nanoTime();
    }

    public void breakConnection() {
        if (!connected) {
            return;
        }
        connected = false;
        listening = listening && process.isDead();
        if (!listening) {
            listener.deaf();
        }
        for (Command<?> command : inFlight) {
            if (command.open) {
                process.schedule(0, () -> command.fail(broken));
            }
        }
        reconnectLater();
    }

    private void reconnectLater() {
        world.schedule(1 + random.nextLong(RECONNECT_NANOS), () -> {
            if (host.isDown() || world.nanoTime() < cutOffUntilNanos) {
                reconnectLater();
            } else if (!process.isDead()) {
                connected = true;
                listener.connected();
                world.schedule(random.nextLong(RECONNECT_NANOS), () -> {
                    listening = connected;
                    if (connected) {
                        listener.listensAgain();
                    }
                });
            }
        });
    }

    /** Something the server tells this process. */
    public void message(Runnable message) {
        travel(
                back,
                () -> process.deliver(() -> {
                    if (connected) {
                        message.run();
                    }
                }));
    }

    public <T> CompletionStage<T> send(Supplier<T> command) {
        Cut cut = random.nextDouble() < weather.cuts ? Cut.CUTS.get(random.nextInt(3)) : Cut.NOWHERE;
        if (!connected || cut == Cut.BEFORE_THE_SENDING) {
            if (random.nextBoolean()) {
                return CompletableFuture.failedFuture(notConnected);
            }
            CompletableFuture<T> reply = new CompletableFuture<>();
            process.schedule(0, () -> reply.completeExceptionally(notConnected));
            return reply;
        }
        Command<T> sent = new Command<>(command, cut == Cut.NOWHERE);
        inFlight.add(sent);
        if (cut != Cut.NOWHERE) {
            process.schedule(
                    random.nextLong(weather.delayNanosMax),
                    () -> sent.fail(new StoreException(Outcome.UNKNOWN, "cut " + cut, null)));
        }
        if (cut != Cut.BEFORE_THE_EXECUTION || weather.executesWhatWasCut) {
            travel(there, () -> host.receive(sent));
        }
        return sent.reply;
    }

    /** One that was sent. Run by the server: it executes the command. */
    private final class Command<T> implements Runnable {
        private final Supplier<T> body;
        private final boolean answered;
        final CompletableFuture<T> reply = new CompletableFuture<>();
        private final TimeSource.Timer patience = process.schedule(COMMAND_TIMEOUT_NANOS, () -> fail(noAnswer));

        /** It has no outcome yet. */
        private boolean open = true;

        Command(Supplier<T> body, boolean answered) {
            this.body = body;
            this.answered = answered;
        }

        @Override
        public void run() {
            T answer = body.get();
            if (answered) {
                travel(
                        back,
                        () -> process.deliver(() -> {
                            if (connected && end()) {
                                reply.complete(answer);
                            }
                        }));
            }
        }

        void fail(StoreException why) {
            if (end()) {
                reply.completeExceptionally(why);
            }
        }

        private boolean end() {
            if (!open) {
                return false;
            }
            open = false;
            patience.cancel();
            while (!inFlight.isEmpty() && !inFlight.getFirst().open) {
                inFlight.removeFirst();
            }
            return true;
        }
    }

    /** One way through the network: lost, or late, or late twice. */
    private void travel(Way way, Runnable arrival) {
        int copies = random.nextDouble() < weather.duplicates ? 2 : 1;
        for (int i = 0; i < copies; i++) {
            if (random.nextDouble() >= weather.loss) {
                long arrives = world.nanoTime() + random.nextLong(weather.delayNanosMax);
                way.latestNanos = weather.keepsOrder ? Math.max(way.latestNanos, arrives) : arrives;
                world.schedule(way.latestNanos - world.nanoTime(), arrival);
            }
        }
    }

    /** One of the two directions. */
    private static final class Way {
        /** When the last of what was sent arrives. */
        long latestNanos;
    }
}
