package io.holdfast.leader;

import static java.util.Objects.requireNonNull;

import io.holdfast.Leadership;
import io.holdfast.LeadershipListener;
import io.holdfast.LeadershipOptions;
import io.holdfast.LockClient;
import io.holdfast.Term;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The candidate of an application for one leadership: calls the listener of the name, and runs its methods in its
 * terms. Thread-safe.
 */
public final class Candidate implements LeadershipListener {

    private final String name;

    /** The first annotation that named it, for messages. */
    private final String place;

    /** The bean that receives elections and revocations; null if only methods have the name. */
    private final AtomicReference<@Nullable Supplier<LeadershipListener>> listener = new AtomicReference<>();

    private final AtomicReference<@Nullable Leadership> leadership = new AtomicReference<>();

    /** The present term. Set while {@link #onElected} has begun and {@link #onRevoked} has not. */
    private volatile @Nullable TermCalls calls;

    Candidate(String name, String place) {
        this.name = name;
        this.place = place;
    }

    String name() {
        return name;
    }

    String place() {
        return place;
    }

    /** Returns false if there is another listener. */
    boolean listen(Supplier<LeadershipListener> bean) {
        return listener.compareAndSet(null, bean);
    }

    /**
     * Begins to campaign for the leadership, unless it does. Not together with {@link #end}.
     *
     * @throws IllegalArgumentException if the client refuses the name or the options
     */
    void begin(LockClient client, LeadershipOptions options) {
        if (leadership.get() == null) {
            leadership.set(client.leadership(name, this, options));
        }
    }

    /** Ends the campaign; returns what is to be closed. */
    Optional<Leadership> end() {
        return Optional.ofNullable(leadership.getAndSet(null));
    }

    /** Returns the calls of the present term, in which the call has begun; null if it is to be skipped. */
    @Nullable
    TermCalls begin(LeaderCall call) {
        TermCalls now = present();
        return now != null && now.begin(call) ? now : null;
    }

    Optional<Term> term() {
        return Optional.ofNullable(present()).map(TermCalls::term);
    }

    private @Nullable TermCalls present() {
        TermCalls now = calls;
        Leadership own = leadership.get();
        return now != null && own != null && own.isLeader() ? now : null;
    }

    @Override
    public void onElected(Term term) throws Exception {
        calls = new TermCalls(term);
        tell(term, each -> each.onElected(term));
    }

    /** The listener stops while the calls end. */
    @Override
    public void onRevoked(Term term) throws Exception {
        TermCalls last = requireNonNull(calls);
        calls = null;
        last.stop();
        try {
            tell(term, each -> each.onRevoked(term));
        } finally {
            last.awaitEnd();
        }
    }

    private interface Message {
        void to(LeadershipListener bean) throws Exception;
    }

    private void tell(Term term, Message message) throws Exception {
        Supplier<LeadershipListener> bean = listener.get();
        if (bean != null) {
            var unused = LeaderThreads.<Exception>in(term, () -> {}, () -> {
                message.to(bean.get());
                return null;
            });
        }
    }
}
