package io.holdfast.verify.redis;

import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One connection to the simulated Redis, as TCP makes it: what is sent arrives late, but in its order and once, up to
 * the point where the connection ends. It ends at each point of a command that matters, and each end may learn of that
 * later than the other, or not at all.
 */
final class SimWire {

    /** The client's end. */
    interface Client {
        void answered(@Nullable Object answer);

        void message(String channel, String message);

        /** The connection has ended, not by {@link #close}. Told once. */
        void lost();
    }

    private static final long ALL = Long.MAX_VALUE;

    /** For how long a server keeps a connection whose client has ended it without being heard. */
    private static final long KEPT_NANOS = 10_000_000_000L;

    private final SimEnd end;
    private final SimRedis server;
    private final Client client;
    private final RedisModel.Session session;

    /** What has not been executed yet, though it may be. */
    private final ArrayDeque<List<String>> underWay = new ArrayDeque<>();

    /** What has reached the process, which may be paused. */
    private final ArrayDeque<Runnable> inbox = new ArrayDeque<>();

    private boolean open = true;
    private long sent;
    private long requestsArriveNanos;
    private long answersArriveNanos;

    /** Requests from this number on do not reach the server. */
    private long requestsEnd = ALL;

    /** Answers to requests from this number on do not reach the client. */
    private long answersEnd = ALL;

    /** Nothing that the server says reaches the client. */
    private boolean deaf;

    long heardNanos;

    SimWire(SimEnd end, SimRedis server, Client client) {
        this.end = end;
        this.server = server;
        this.client = client;
        this.session = server.open(this, (channel, message) -> {
            if (!deaf) {
                say(() -> client.message(channel, message));
            }
        });
        heardNanos = end.time().nanoTime();
    }

    boolean isOpen() {
        return open;
    }

    /** False if the connection has ended before that. */
    boolean send(List<String> words) {
        if (!open) {
            return false;
        }
        long number = sent++;
        if (end.random().nextDouble() < end.network().silences) {
            beSilent(number);
        } else if (end.random().nextDouble() < end.network().cuts && !cut(number)) {
            return false;
        }
        if (number < requestsEnd) {
            underWay.add(words);
            requestsArriveNanos = Math.max(requestsArriveNanos, later());
            end.world().schedule(requestsArriveNanos - now(), () -> server.receive(() -> execute(number, words)));
        }
        return true;
    }

    private void execute(long number, List<String> words) {
        underWay.remove();
        if (!session.isOpen()) {
            return;
        }
        if (server.isCutAt(words)) {
            cut();
            return;
        }
        Object answer = server.execute(session, words);
        if (number < answersEnd) {
            say(() -> client.answered(answer));
        }
    }

    private void say(Runnable what) {
        answersArriveNanos = Math.max(answersArriveNanos, later());
        end.world().schedule(answersArriveNanos - now(), () -> {
            inbox.add(what);
            end.deliver(this::takeOne);
        });
    }

    private void takeOne() {
        Runnable next = inbox.remove();
        if (open) {
            heardNanos = end.time().nanoTime();
            next.run();
        }
    }

    // --- how it ends ---

    /**
     * The client closes it. What was sent before still arrives: later, perhaps, than what is sent on the next
     * connection.
     */
    void close() {
        open = false;
        underWay.forEach(server::mayComeLate);
        requestsArriveNanos = Math.max(requestsArriveNanos, later());
        long kept = requestsEnd == ALL ? 0 : KEPT_NANOS;
        end.world().schedule(requestsArriveNanos - now() + kept, session::close);
    }

    /** The server, or somebody between, ends it. Both ends notice, the client a little later. */
    void cut() {
        session.close();
        requestsEnd = 0;
        answersEnd = 0;
        deaf = true;
        loseLater();
    }

    /** The process has gone, and the server learns of that. */
    void processEnded() {
        session.close();
    }

    /** Nothing has come for too long. */
    void giveUp() {
        if (open) {
            close();
            client.lost();
        }
    }

    private boolean cut(long number) {
        switch (end.random().nextInt(3)) {
            case 0 -> {
                // Before the sending.
                giveUp();
                return false;
            }
            case 1 -> requestsEnd = Math.min(requestsEnd, number);
            default -> requestsEnd = Math.min(requestsEnd, number + 1);
        }
        if (end.network().executesWhatWasCut) {
            requestsEnd = ALL;
        }
        answersEnd = Math.min(answersEnd, number);
        loseLater();
        return true;
    }

    private void beSilent(long number) {
        int which = end.random().nextInt(3);
        if (which != 0) {
            requestsEnd = Math.min(requestsEnd, number);
        }
        if (which != 1) {
            answersEnd = Math.min(answersEnd, number);
            deaf = true;
        }
    }

    private void loseLater() {
        end.world()
                .schedule(
                        1 + end.random().nextLong(end.network().delayNanosMax),
                        () -> end.deliver(() -> {
                            deaf = true;
                            giveUp();
                        }));
    }

    private long now() {
        return end.world().nanoTime();
    }

    private long later() {
        return now() + 1 + end.random().nextLong(end.network().delayNanosMax);
    }
}
