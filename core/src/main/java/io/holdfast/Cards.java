package io.holdfast;

import static java.lang.System.Logger.Level.INFO;

import io.holdfast.spi.CardStore;
import io.holdfast.spi.HolderId;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoredCard;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes this client's card and reads those of others. Nothing of it is on the way of an acquire or a release.
 *
 * <p>A card is written every period: at least five seconds, and so much more that all clients together write a hundred
 * cards a second. A card that would say the same as the one before is only kept for longer. It stays for as long as
 * the longest hold on it may, and three periods, so that people can see who the holder was that died.
 */
final class Cards {

    private static final long PERIOD_NANOS_MIN = Duration.ofSeconds(5).toNanos();

    /** The share of a client in a hundred writes a second. */
    private static final long NANOS_EACH = Duration.ofMillis(10).toNanos();

    private static final Duration KEEP_MIN = Duration.ofMinutes(1);

    /** After a refusal: rights are seldom given while clients run. */
    private static final long REFUSED_NANOS = Duration.ofMinutes(10).toNanos();

    /** How many other clients' titles are remembered, and for how long it is remembered that there is none. */
    private static final int TITLES_MAX = 1_000;

    private static final long UNKNOWN_NANOS = Duration.ofMinutes(1).toNanos();

    /** The title of a client whose card was looked for: null if there was none at this instant. */
    private record Title(@Nullable String text, long askedNanos) {}

    private final EngineSettings settings;
    private final String server;
    private final @Nullable CardStore store;
    private final Collection<NameEngine> names;
    private final Activities activities = new Activities();
    private final ConcurrentMap<String, Title> titles = new ConcurrentHashMap<>();
    private final ReentrantLock lock = new ReentrantLock(); // a leaf
    private TimeSource.@Nullable Timer timer; // by lock
    private boolean closed; // by lock
    private boolean refused; // by lock; the log has said so

    // One write after the other, so these have one user at a time.
    private @Nullable String writtenText;
    private long writtenNanos;
    private Duration writtenKeep = KEEP_MIN;
    private volatile long periodNanos = PERIOD_NANOS_MIN;

    Cards(LockStore store, EngineSettings settings, Collection<NameEngine> names) {
        this.settings = settings;
        this.server = store.describe();
        this.store = store.cards().orElse(null);
        this.names = names;
        if (this.store != null && settings.cards != CardDetail.OFF) {
            schedule(settings.cardNanos(PERIOD_NANOS_MIN));
        }
    }

    // --- this client's card ---

    void acquired(String name, boolean handedOn, long waitedNanos) {
        if (isWriting()) {
            activities.acquired(name, handedOn, waitedNanos);
        }
    }

    void notAcquired(String name) {
        if (isWriting()) {
            activities.notAcquired(name);
        }
    }

    private boolean isWriting() {
        return store != null && settings.cards != CardDetail.OFF;
    }

    private void schedule(long delayNanos) {
        lock.lock();
        try {
            if (!closed) {
                timer = settings.time.schedule(delayNanos, this::write);
            }
        } finally {
            lock.unlock();
        }
    }

    private void write() {
        CardStore cards = Objects.requireNonNull(store);
        // A whole number of milliseconds after the card before, so that the ages of both can be compared.
        long now = writtenNanos + (settings.time.nanoTime() - writtenNanos) / 1_000_000 * 1_000_000;
        CardCollector collected = new CardCollector(now, settings.cards == CardDetail.THREADS);
        names.forEach(name -> name.addTo(collected));
        ClientCard card = card(collected);
        CompletionStage<?> written;
        if (CardText.write(card, (now - writtenNanos) / 1_000_000).equals(writtenText)) {
            written = guarded(() -> cards.keep(writtenKeep)).thenApply(there -> {
                if (!there) {
                    writtenText = null;
                }
                return there;
            });
        } else {
            Duration keep = Duration.ofNanos(collected.longestNanos() + 3 * periodNanos);
            String text = CardText.write(card, 0);
            writtenText = text;
            writtenNanos = now;
            writtenKeep = keep.compareTo(KEEP_MIN) < 0 ? KEEP_MIN : keep;
            written = guarded(() -> cards.write(text, writtenKeep)).thenApply(clients -> {
                periodNanos = Math.max(PERIOD_NANOS_MIN, clients * NANOS_EACH);
                return clients;
            });
        }
        written.whenComplete((done, error) -> {
            if (error != null) {
                writtenText = null;
            }
            schedule(settings.jittered(settings.cardNanos(
                    error == null || !isRefusal(error) ? periodNanos : Math.max(periodNanos, REFUSED_NANOS))));
        });
    }

    private ClientCard card(CardCollector collected) {
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
                activities.take());
    }

    /** Returns whether the store refuses cards for good, and says so once. A store that is away says that elsewhere. */
    private boolean isRefusal(Throwable error) {
        StoreException why = StoreErrors.of(error);
        if (why.outcome() != StoreException.Outcome.FATAL) {
            return false;
        }
        lock.lock();
        try {
            if (refused || closed) {
                return true;
            }
            refused = true;
        } finally {
            lock.unlock();
        }
        Log.LOG.log(
                INFO,
                server + " keeps no card of this client, so tools show its holder ids only; locks are not affected: "
                        + why.getMessage());
        return true;
    }

    /** Ends the writing, and removes the card. */
    CompletionStage<Void> close() {
        lock.lock();
        try {
            closed = true;
            if (timer != null) {
                timer.cancel();
            }
        } finally {
            lock.unlock();
        }
        return store == null || writtenText == null ? CompletableFuture.completedFuture(null) : guarded(store::remove);
    }

    private static <T> CompletionStage<T> guarded(Supplier<CompletionStage<T>> command) {
        try {
            return command.get();
        } catch (Throwable e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    // --- the cards of others ---

    /** Returns the cards of all clients, the most recently heard first; empty if the store keeps none. */
    CompletionStage<List<ClientCard>> read() {
        return store == null
                ? CompletableFuture.completedFuture(List.of())
                : guarded(store::read)
                        .thenApply(stored -> stored.stream()
                                .map(CardText::read)
                                .filter(Objects::nonNull)
                                .map(Objects::requireNonNull)
                                .sorted(Comparator.comparing(ClientCard::title).thenComparing(ClientCard::id))
                                .toList());
    }

    /** Returns the card of the client of a holder id, if there is one. Does not fail: a card is an extra. */
    CompletionStage<Optional<ClientCard>> ofHolder(@Nullable String holder) {
        String client = holder == null ? "" : HolderId.client(holder);
        if (store == null || client.isEmpty() || HolderId.isForeign(client)) {
            return CompletableFuture.completedFuture(Optional.empty());
        }
        return guarded(() -> store.read(client)).handle((stored, error) -> {
            Optional<StoredCard> found = error == null ? stored : Optional.empty();
            return found.map(CardText::read);
        });
    }

    /** A caller waits for this holder: its client's title may be needed soon, so it is asked for once. */
    void waitsFor(String holder) {
        String client = HolderId.client(holder);
        if (store == null
                || client.isEmpty()
                || client.equals(settings.clientId)
                || HolderId.isForeign(client)
                || isKnown(client)) {
            return;
        }
        if (titles.size() >= TITLES_MAX) {
            titles.clear();
        }
        titles.put(client, new Title(null, settings.time.nanoTime()));
        ofHolder(holder).whenComplete((card, error) -> {
            if (error == null && card.isPresent()) {
                titles.put(client, new Title(card.get().title(), settings.time.nanoTime()));
            }
        });
    }

    private boolean isKnown(String client) {
        Title title = titles.get(client);
        return title != null && (title.text() != null || settings.time.nanoTime() - title.askedNanos() < UNKNOWN_NANOS);
    }

    /** Describes a holder as well as it is known here, for a message. */
    String describe(String holder) {
        Title title = titles.get(HolderId.client(holder));
        return title == null || title.text() == null ? Quoted.holder(holder) : title.text();
    }
}
