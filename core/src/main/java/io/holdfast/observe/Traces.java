package io.holdfast.observe;

import io.holdfast.CardDetail;
import io.holdfast.ClientCard;
import io.holdfast.ClientCard.HeldLock;
import io.holdfast.LockListener;
import io.holdfast.LockTracer;
import io.holdfast.engine.Callbacks;
import io.holdfast.engine.EngineSettings;
import io.holdfast.engine.EventLock;
import io.holdfast.log.Log;
import io.holdfast.log.Quoted;
import io.holdfast.spi.HolderId;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * Tells the user's {@link LockTracer} how waits end, and which trace held the lock in that time. Reads the holder's
 * card for that while a caller waits, because a holder that ends its work may end its process and remove its card.
 */
final class Traces {

    /** For how long a card that was read is good for all waits. */
    private static final long CARD_NANOS = Duration.ofSeconds(1).toNanos();

    /** How many cards are remembered; each may have 32 KB. */
    private static final int CARDS_MAX = 100;

    /** Who held the lock, as far as it is known. */
    private record Holder(Optional<String> title, Optional<String> traceParent) {}

    private static final CompletionStage<Holder> NOBODY =
            CompletableFuture.completedStage(new Holder(Optional.empty(), Optional.empty()));

    private record Reading(long atNanos, CompletionStage<Optional<ClientCard>> card) {}

    private final @Nullable LockTracer tracer;
    private final long shortestNanos;
    private final Cards cards;
    private final Callbacks callbacks;
    private final EngineSettings settings;
    private final ConcurrentMap<String, Reading> read = new ConcurrentHashMap<>();

    final class Followed {

        private final String name;
        private final LockTracer.Acquisition acquisition;
        private final @Nullable String traceParent;
        private @Nullable String holderId; // by the engine's lock
        private CompletionStage<Holder> holder = NOBODY; // by the engine's lock

        private Followed(String name, LockTracer.Acquisition acquisition) {
            String trace = acquisition.traceParent();
            this.name = name;
            this.acquisition = acquisition;
            this.traceParent = trace != null && CardText.isTraceParent(trace) ? trace : null;
        }

        @Nullable
        String traceParent() {
            return traceParent;
        }

        void waitsForOwn(String id, @Nullable String trace) {
            holderId = id;
            holder = CompletableFuture.completedStage(
                    new Holder(Optional.of("this client"), Optional.ofNullable(trace)));
        }

        void waitsFor(String id) {
            if (!id.equals(holderId)) {
                holderId = id;
                holder = CompletableFuture.completedStage(new Holder(Optional.of(Quoted.holder(id)), Optional.empty()));
            }
            lookForTrace();
        }

        /** @param failure how the wait ended without a lease; null if it ended with one */
        void reportEnd(EventLock<?> at, long waitedNanos, LockListener.@Nullable Outcome failure, long token) {
            if (waitedNanos < shortestNanos) {
                return;
            }
            lookForTrace();
            Instant began = Instant.ofEpochMilli(settings.time.wallMillis()).minusNanos(waitedNanos);
            CompletionStage<Holder> last = holder;
            at.later(() ->
                    last.thenAccept(known -> callbacks.executeObserver(() -> acquisition.ended(new LockTracer.Wait(
                            name,
                            began,
                            Duration.ofNanos(waitedNanos),
                            Optional.ofNullable(failure),
                            token,
                            known.title(),
                            known.traceParent())))));
        }

        /** Reads the holder's card, unless its trace is known by then: it may be on a later card than before. */
        private void lookForTrace() {
            String id = holderId;
            if (settings.cards != CardDetail.OFF
                    && id != null
                    && !HolderId.client(id).equals(settings.clientId)) {
                holder = holder.thenCompose(known ->
                        known.traceParent().isPresent() ? CompletableFuture.completedStage(known) : read(id, known));
            }
        }

        private CompletionStage<Holder> read(String id, Holder known) {
            return cardOf(id)
                    .thenApply(card -> new Holder(
                            card.map(ClientCard::title).or(known::title),
                            card.flatMap(found -> found.hold(name))
                                    .filter(hold -> hold.holderId().equals(id))
                                    .flatMap(HeldLock::traceParent)));
        }
    }

    Traces(Cards cards, Callbacks callbacks, EngineSettings settings) {
        this.tracer = settings.tracer;
        this.shortestNanos = tracer == null ? 0 : tracer.shortestWait().toNanos();
        this.cards = cards;
        this.callbacks = callbacks;
        this.settings = settings;
    }

    /** Lets the tracer follow an acquisition. Called by the thread that asks, without a lock. */
    @Nullable
    Followed begin(String name) {
        if (tracer == null) {
            return null;
        }
        try {
            LockTracer.Acquisition acquisition = tracer.begin(name);
            return acquisition == null ? null : new Followed(name, acquisition);
        } catch (Throwable e) {
            Log.LOG.log(System.Logger.Level.ERROR, "A tracer failed; it does not follow this acquisition", e);
            return null;
        }
    }

    /** Returns the card of the client of a holder id, perhaps as it was a second ago. Does not fail. */
    private CompletionStage<Optional<ClientCard>> cardOf(String holder) {
        String client = HolderId.client(holder);
        long now = settings.time.nanoTime();
        Reading known = read.get(client);
        if (known != null && now - known.atNanos() < CARD_NANOS) {
            return known.card();
        }
        if (read.size() >= CARDS_MAX) {
            read.clear();
        }
        CompletionStage<Optional<ClientCard>> card = cards.ofHolder(holder);
        read.put(client, new Reading(now, card));
        return card;
    }
}
