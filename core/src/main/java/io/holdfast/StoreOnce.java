package io.holdfast;

import static java.util.Objects.requireNonNull;

import io.holdfast.engine.Engine;
import io.holdfast.engine.OnceRecords;
import io.holdfast.log.Quoted;
import io.holdfast.spi.DurationText;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Does the work for a key once, and keeps its result in the store of the locks, for applications without a database.
 * <b>After a crash, at least once</b>: a process that dies between the work and the record of its result leaves no
 * record, and the next call does the work again.
 *
 * <pre>{@code
 * StoreOnce once = locks.once().keepFor(Duration.ofDays(7));
 * String receipt = once.run("payment:" + id, "amount=" + amount, lease -> payments.settle(id, amount));
 * }</pre>
 *
 * <p>A call takes the lock of the key and looks for its record. With a record, it returns the stored result. Otherwise
 * it does the work and writes the record in one step of the store that checks that the lock is still held. So of all
 * calls that return, one has done the work. The work is done again
 *
 * <ul>
 *   <li>if its process or the store fails before the record is written, or the lock is lost by then: the call throws
 *       {@link LeaseLostException} or {@link LockStoreException}, if it still can;
 *   <li>if the store loses the record: a Redis server that restarts without its data, that fails over to a replica
 *       without it, or that evicts keys;
 *   <li>if the work throws: a failure leaves nothing.
 * </ul>
 *
 * <p>Pass the key on to the system that has the effect, if that system knows such keys. With a database, use {@code
 * JdbcOnce} of the module holdfast-jdbc: it commits key, result and effects together.
 *
 * <p>Needs Redis in mode {@code lua}, or memory. On other stores each call fails with {@link LockStoreException}, and
 * does no work.
 *
 * <p>Immutable and thread-safe; each setter returns a changed copy.
 *
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/idempotent.md#without-a-database">Without a
 *     database</a>
 */
public final class StoreOnce {

    private static final Duration KEPT_AT_LEAST = Duration.ofSeconds(1);

    /** A store of locks is no archive. */
    private static final Duration KEPT_AT_MOST = Duration.ofDays(365);

    /** One command carries it, and a server that does nothing else meanwhile copies it. */
    private static final int RESULT_CHARS_MAX = 1_048_576;

    /** The number of hexadecimal digits of a fingerprint. */
    private static final int DIGITS = 64;

    private static final char WITH_RESULT = '=';
    private static final char WITHOUT_RESULT = '-';

    private final LockClient client;
    private final Supplier<Engine> engine;
    private final Duration keepFor;
    private final LockOptions options;

    StoreOnce(LockClient client, Supplier<Engine> engine) {
        this(client, engine, Duration.ofDays(7), LockOptions.defaults());
    }

    private StoreOnce(LockClient client, Supplier<Engine> engine, Duration keepFor, LockOptions options) {
        this.client = client;
        this.engine = engine;
        this.keepFor = keepFor;
        this.options = options;
    }

    /**
     * Sets how long a result is kept from the end of its work. A caller that repeats the key after that does the work
     * again. The store deletes the result at that time.
     *
     * @param time longer than any caller repeats a key; 7 days by default
     * @throws IllegalArgumentException if it is shorter than a second or longer than 365 days
     */
    public StoreOnce keepFor(Duration time) {
        if (time.compareTo(KEPT_AT_LEAST) < 0 || time.compareTo(KEPT_AT_MOST) > 0) {
            throw new IllegalArgumentException(
                    "keepFor: " + DurationText.of(time) + " (expected: from 1 s to 365 days)");
        }
        return new StoreOnce(client, engine, time, options);
    }

    /**
     * Sets the longest wait for a call with the key that runs; without it, a call waits as long as needed.
     *
     * @param wait zero to fail at once
     * @throws IllegalArgumentException if negative or longer than 100 years
     */
    public StoreOnce waitAtMost(Duration wait) {
        return new StoreOnce(client, engine, keepFor, options.waitAtMost(wait));
    }

    /**
     * Returns the result for a key: of the work, which runs now under the lock of the key, or of the work that was done
     * before.
     *
     * @param key identifies the work, for example the id of a request; the name of the lock
     * @param fingerprint what must be equal in all calls with the key, for example the amount
     * @param work returns null or a text of at most 1,048,576 characters; receives the lease of the key
     * @throws OnceConflictException if the key has a result with another fingerprint
     * @throws LockTimeoutException if a call with the key ran for the whole wait
     * @throws LeaseLostException if the lock was lost: the work may be done again
     * @throws LockStoreException if the store failed, or keeps no results. After the work, it may be done again
     * @throws IllegalArgumentException if the key is no lock name, or a text has half of a surrogate pair
     * @throws E if the work throws it
     */
    public <E extends Exception> @Nullable String run(
            String key, String fingerprint, LeaseCall<@Nullable String, E> work) throws InterruptedException, E {
        requireNonNull(work, "work");
        String expected = fingerprint(fingerprint);
        Done done = client.<Done, E>callChecked(key, options, lease -> {
            OnceRecords records = records();
            Optional<String> found = OnceRecords.await(records.find(lease));
            if (found.isPresent()) {
                return done(key, expected, found.get());
            }
            Done now = new Done(work.call(lease));
            OnceRecords.await(records.keep(lease, text(expected, now.result()), keepFor));
            return now;
        });
        return done.result();
    }

    /**
     * Returns the result for a key as {@link #run} does, without a thread that waits. The work begins on the client's
     * callback executor, and ends when its stage does.
     *
     * @return fails as {@code run} throws
     */
    public CompletionStage<@Nullable String> runAsync(
            String key, String fingerprint, Function<? super Lease, ? extends CompletionStage<@Nullable String>> work) {
        requireNonNull(work, "work");
        String expected = fingerprint(fingerprint);
        return client.<@Nullable String>callAsync(
                key,
                options,
                lease -> found(lease, expected)
                        .thenComposeAsync(done -> done.isPresent()
                                ? CompletableFuture.completedFuture(done.get().result())
                                : work.apply(lease)
                                        .thenCompose(result ->
                                                kept(lease, expected, result).thenApply(kept -> result))));
    }

    /**
     * The end of work that was done before.
     *
     * @param result null if it had none
     */
    public record Done(@Nullable String result) {}

    /**
     * Looks for the work of the key whose lock the lease is: the first of two steps, for frameworks that take the lock
     * themselves. If there is none, the caller does the work under this lease and then calls {@link #keep}.
     *
     * @return completes on any thread; its {@code …Async} methods without an executor use the client's callback
     *     executor. Fails as {@link #run} throws
     * @throws IllegalArgumentException if the lease is not one of a lock of this client
     */
    public CompletionStage<Optional<Done>> find(Lease lease, String fingerprint) {
        return found(lease, fingerprint(fingerprint));
    }

    /**
     * Stores the result of work that was done under the lease.
     *
     * @param fingerprint the same as for {@link #find}
     * @return completes as that of {@code find} does; fails as {@link #run} throws, and then the work may be done again
     * @throws IllegalArgumentException if the lease is not one of a lock of this client
     */
    public CompletionStage<Void> keep(Lease lease, String fingerprint, @Nullable String result) {
        return kept(lease, fingerprint(fingerprint), result).thenAccept(kept -> {});
    }

    /**
     * Checks that the store keeps results.
     *
     * @throws LockStoreException if it does not; or if the client was built {@linkplain LockClient.Builder#lazy lazily}
     *     and its store is not open yet
     */
    public void requireStore() {
        records().require();
    }

    private CompletionStage<Optional<Done>> found(Lease lease, String expected) {
        return records().find(lease).thenApply(found -> found.map(text -> done(lease.name(), expected, text)));
    }

    private CompletionStage<Boolean> kept(Lease lease, String expected, @Nullable String result) {
        return records().keep(lease, text(expected, result), keepFor);
    }

    private OnceRecords records() {
        return new OnceRecords(engine.get());
    }

    private static String text(String fingerprint, @Nullable String result) {
        if (result == null) {
            return fingerprint + WITHOUT_RESULT;
        }
        if (result.length() > RESULT_CHARS_MAX) {
            throw new IllegalArgumentException("result: " + result.length() + " characters (expected: at most "
                    + RESULT_CHARS_MAX + "; store a large result elsewhere, and return where it is)");
        }
        return fingerprint + WITH_RESULT + storable("result", result);
    }

    private static Done done(String key, String expected, String text) {
        if (text.length() <= DIGITS) {
            throw new IllegalStateException("The record of the key " + Quoted.name(key)
                    + " was written by another program (expected: a store whose keys only Holdfast writes)");
        }
        if (!text.startsWith(expected)) {
            throw new OnceConflictException("The key " + Quoted.name(key)
                    + " was used with another fingerprint (expected: the same fingerprint in every call with a key,"
                    + " or another key)");
        }
        return new Done(text.charAt(DIGITS) == WITHOUT_RESULT ? null : text.substring(DIGITS + 1));
    }

    private static String fingerprint(String text) {
        byte[] utf8 =
                storable("fingerprint", requireNonNull(text, "fingerprint")).getBytes(StandardCharsets.UTF_8);
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(utf8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every Java platform has SHA-256", e);
        }
    }

    /** UTF-8 would write half of a surrogate pair as a question mark. */
    private static String storable(String what, String text) {
        int point;
        for (int i = 0; i < text.length(); i += Character.charCount(point)) {
            point = text.codePointAt(i);
            if (Character.getType(point) == Character.SURROGATE) {
                throw new IllegalArgumentException(what + ": an unpaired surrogate at index " + i
                        + " (expected: text without half of a surrogate pair)");
            }
        }
        return text;
    }
}
