package io.holdfast.observe;

import static java.lang.System.Logger.Level.INFO;

import io.holdfast.CardDetail;
import io.holdfast.ClientCard;
import io.holdfast.ClientCard.Activity;
import io.holdfast.ClientCard.WaitedLock;
import io.holdfast.engine.ActiveLease;
import io.holdfast.engine.Engine;
import io.holdfast.engine.EngineSettings;
import io.holdfast.engine.ProcessIdentity;
import io.holdfast.log.Log;
import io.holdfast.log.Quoted;
import io.holdfast.spi.CardStore;
import io.holdfast.spi.HolderId;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoredCard;
import io.holdfast.spi.TimeSource;
import io.holdfast.store.StoreErrors;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes this client's card and reads those of others. No acquire or release waits for a card.
 *
 * <p>When the client connects, a card says who it is, so that a holder has a name from its first moment. From then on, a
 * card is written every period: at least five seconds, and so much more that all clients together write a hundred cards
 * a second. A card that would say the same as the one before is only kept for longer. It stays for as long as
 * the longest hold on it may, and three periods, so that operators can identify a holder that died. For the same reason
 * a client that closes while work under its locks goes on does not remove its card: the last one tells of these locks
 * only.
 */
final class Cards {

    private static final long PERIOD_NANOS_MIN = Duration.ofSeconds(5).toNanos();

    /** The share of a client in a hundred writes a second. */
    private static final long NANOS_EACH = Duration.ofMillis(10).toNanos();

    private static final Duration KEEP_MIN = Duration.ofMinutes(1);

    /** After a refusal: rights are seldom given while clients run. */
    private static final long REFUSED_NANOS = Duration.ofMinutes(10).toNanos();

    /** How many other clients' titles are remembered. */
    private static final int TITLES_MAX = 1_000;

    private final EngineSettings settings;
    private final Engine engine;

    /** Whether the store keeps cards; false until {@link #begin}. One that is not open yet may. */
    private boolean kept;

    private final Activities activities = new Activities();

    /** The titles of other clients by their ids. A client never changes its title. */
    private final ConcurrentMap<String, String> titles = new ConcurrentHashMap<>();

    /** The clients whose cards were looked for, whether there was a card or not. */
    private final Set<String> learned = ConcurrentHashMap.newKeySet();

    /** What a close of the client leaves at the store. */
    private final Queue<ActiveLease> left = new ConcurrentLinkedQueue<>();

    private final ReentrantLock lock = new ReentrantLock(); // a leaf
    private TimeSource.@Nullable Timer timer; // by lock
    private volatile boolean closed; // written by lock
    private final AtomicBoolean refused = new AtomicBoolean(); // the log has said so

    /** Completes when the write that is under way, or was the last, has been answered or has failed. */
    private CompletableFuture<Void> writing = last(); // by lock

    // One write after the other, so these have one user at a time; close() is the next after the last write.
    private boolean sent;
    private @Nullable String writtenText;
    private long writtenNanos;
    private Duration writtenKeep = KEEP_MIN;
    private volatile long periodNanos = PERIOD_NANOS_MIN;

    Cards(Engine engine) {
        this.engine = engine;
        this.settings = engine.settings;
    }

    /** Writes who the client is, and then a card every period. */
    void begin() {
        kept = mayKeepCards(engine.store);
        if (isWriting()) {
            write(this::writeIdentity);
        }
    }

    private static boolean mayKeepCards(LockStore store) {
        try {
            return store.cards().isPresent();
        } catch (StoreException notOpen) {
            return true;
        }
    }

    /** @throws StoreException if the store is not open yet, or was opened since and keeps no cards */
    private CardStore store() {
        LockStore store = engine.store;
        return store.cards()
                .orElseThrow(() ->
                        new StoreException(StoreException.Outcome.FATAL, store.describe() + " keeps no cards", null));
    }

    // --- this client's card ---

    void countAcquired(String name, boolean handedOn, long waitedNanos) {
        if (isWriting()) {
            activities.countAcquired(name, handedOn, waitedNanos);
        }
    }

    void countNotAcquired(String name) {
        if (isWriting()) {
            activities.countNotAcquired(name);
        }
    }

    /** A close of the client leaves the hold of this lease to the work under it. */
    void onLeft(ActiveLease lease) {
        left.add(lease);
    }

    private boolean isWriting() {
        return kept && settings.cards != CardDetail.OFF;
    }

    private void schedule(long delayNanos) {
        lock.lock();
        try {
            if (!closed) {
                timer = settings.time.schedule(delayNanos, () -> write(this::writeAll));
            }
        } finally {
            lock.unlock();
        }
    }

    private void write(Supplier<CompletionStage<Void>> command) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        lock.lock();
        try {
            if (closed) {
                return;
            }
            writing = done;
        } finally {
            lock.unlock();
        }
        StoreErrors.sent(command).whenComplete((written, error) -> {
            if (error != null) {
                writtenText = null;
            }
            done.complete(null);
            schedule(settings.jittered(settings.cardNanos(
                    error == null || !isRefusal(error) ? periodNanos : Math.max(periodNanos, REFUSED_NANOS))));
        });
    }

    private CompletionStage<Void> writeIdentity() {
        CardCollector nothing = collector(settings.time.nanoTime());
        return write(nothing, card(nothing, List.of()));
    }

    private CompletionStage<Void> writeAll() {
        // A whole number of milliseconds after the card before, so that the ages of both can be compared.
        long now = writtenNanos + (settings.time.nanoTime() - writtenNanos) / 1_000_000 * 1_000_000;
        CardCollector collected = collector(now);
        engine.visit(collected);
        ClientCard card = card(collected, activities.take());
        readTitles(card.waiting());
        if (CardText.write(card, (now - writtenNanos) / 1_000_000).equals(writtenText)) {
            return store().keep(writtenKeep).thenAccept(there -> {
                if (!there) {
                    writtenText = null;
                }
            });
        }
        return write(collected, card);
    }

    private CardCollector collector(long nowNanos) {
        return new CardCollector(nowNanos, settings.cards == CardDetail.THREADS);
    }

    private CompletionStage<Void> write(CardCollector collected, ClientCard card) {
        String text = CardText.write(card, 0);
        Duration keep = Duration.ofNanos(collected.longestNanos() + 3 * periodNanos);
        writtenText = text;
        writtenNanos = collected.nowNanos;
        writtenKeep = keep.compareTo(KEEP_MIN) < 0 ? KEEP_MIN : keep;
        sent = true;
        return store().write(text, writtenKeep)
                .thenAccept(clients -> periodNanos = Math.max(PERIOD_NANOS_MIN, clients * NANOS_EACH));
    }

    private ClientCard card(CardCollector collected, List<Activity> busiest) {
        return new ClientCard(
                settings.clientId,
                settings.clientName(),
                settings.host,
                settings.pid,
                ProcessIdentity.version(),
                Duration.ZERO,
                collected.held(),
                collected.heldCount(),
                collected.waiting(),
                collected.waitingCount(),
                collected.permits(),
                collected.readWrite(),
                busiest);
    }

    /**
     * Returns whether the store refuses cards permanently; logs that once. An unreachable store is logged elsewhere.
     */
    private boolean isRefusal(Throwable error) {
        StoreException why = StoreErrors.of(error);
        if (why.outcome() != StoreException.Outcome.FATAL) {
            return false;
        }
        if (closed || refused.getAndSet(true)) {
            return true;
        }
        Log.LOG.log(
                INFO,
                engine.store.describe()
                        + " keeps no card of this client, so tools show its holder ids only; locks are not affected: "
                        + why.getMessage());
        return true;
    }

    /**
     * Ends the writing. Once no write of a card is on its way, removes the card, or writes the last one of what is left.
     */
    CompletionStage<Void> close() {
        return stop().thenCompose(last -> {
            if (isWriting() && !left.isEmpty()) {
                return StoreErrors.sent(this::writeLeft);
            }
            return kept && sent ? StoreErrors.sent(() -> store().remove()) : last();
        });
    }

    private CompletionStage<Void> writeLeft() {
        CardCollector collected = collector(settings.time.nanoTime());
        left.forEach(collected::addLeft);
        return write(collected, card(collected, List.of()));
    }

    /** Ends the writing. The stage completes when the last write has been answered. */
    CompletionStage<Void> stop() {
        lock.lock();
        try {
            closed = true;
            if (timer != null) {
                timer.cancel();
            }
            return writing;
        } finally {
            lock.unlock();
        }
    }

    private static CompletableFuture<Void> last() {
        return CompletableFuture.completedFuture(null);
    }

    // --- the cards of others ---

    /** Returns the cards of all clients, the most recently heard first; empty if the store keeps none. */
    CompletionStage<List<ClientCard>> read() {
        return !kept
                ? CompletableFuture.completedFuture(List.of())
                : StoreErrors.sent(() -> store().read())
                        .thenApply(stored -> stored.stream()
                                .map(CardText::read)
                                .filter(Objects::nonNull)
                                .map(Objects::requireNonNull)
                                .sorted(Comparator.comparing(ClientCard::title).thenComparing(ClientCard::id))
                                .toList());
    }

    /** Returns the card of the client of a holder id, if there is one. Does not fail: a card is an extra. */
    CompletionStage<Optional<ClientCard>> ofHolder(@Nullable String holder) {
        return ofClient(holder == null ? "" : HolderId.client(holder));
    }

    private CompletionStage<Optional<ClientCard>> ofClient(String client) {
        if (!kept || client.isEmpty() || HolderId.isForeign(client)) {
            return CompletableFuture.completedFuture(Optional.empty());
        }
        if (learned.size() >= TITLES_MAX) {
            learned.clear();
        }
        learned.add(client);
        return StoreErrors.sent(() -> store().read(client)).handle((stored, error) -> {
            Optional<StoredCard> found = error == null ? stored : Optional.empty();
            Optional<ClientCard> card = found.map(CardText::read);
            card.ifPresent(read -> {
                if (titles.size() >= TITLES_MAX) {
                    titles.clear();
                }
                titles.put(client, read.title());
            });
            return card;
        });
    }

    /** Reads, at the period of the cards, who holds what callers here wait for. */
    private void readTitles(List<WaitedLock> waiting) {
        waiting.stream()
                .flatMap(lock -> lock.holder().stream())
                .map(HolderId::client)
                .filter(client -> !titles.containsKey(client))
                .distinct()
                .forEach(this::readTitle);
    }

    /**
     * Reads who a holder is for which a caller begins to wait, once for each client: the next try is that of this
     * client's own period. The caller does not wait for that. Called without a lock.
     */
    void learn(String holder) {
        String client = HolderId.client(holder);
        if (isWriting() && !titles.containsKey(client) && !learned.contains(client)) {
            readTitle(client);
        }
    }

    private void readTitle(String client) {
        var unused = ofClient(client);
    }

    /** Describes a holder as well as it is known here, for a message. */
    String describe(String holder) {
        String title = titles.get(HolderId.client(holder));
        return title == null ? Quoted.holder(holder) : title;
    }
}
