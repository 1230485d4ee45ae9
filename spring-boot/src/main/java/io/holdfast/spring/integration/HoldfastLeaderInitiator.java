package io.holdfast.spring.integration;

import static java.util.Objects.requireNonNull;

import io.holdfast.Leadership;
import io.holdfast.LeadershipListener;
import io.holdfast.LeadershipOptions;
import io.holdfast.LockClient;
import io.holdfast.Term;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ApplicationEventPublisherAware;
import org.springframework.context.SmartLifecycle;
import org.springframework.integration.leader.Candidate;
import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.event.DefaultLeaderEventPublisher;

/**
 * Campaigns for the leadership of a role of Spring Integration. Calls the candidate, and publishes {@code
 * OnGrantedEvent} and {@code OnRevokedEvent}, by which a {@code SmartLifecycleRoleController} starts and stops the
 * endpoints of the role. For the versions 7 and 6.5.
 *
 * <pre>{@code
 * @Bean
 * HoldfastLeaderInitiator initiator(LockClient locks) {
 *     return new HoldfastLeaderInitiator(locks, new DefaultCandidate("node", "billing"));
 * }
 * }</pre>
 *
 * <p>In the place of a {@code LockRegistryLeaderInitiator}, which notices the end of its leadership at its next
 * heartbeat, when another may lead. This one revokes before the lease can end, and has time to stop: see {@link
 * Leadership}. Candidate and events come on one thread; an exception of either at the election gives up the term.
 *
 * <p>Starts in the phase {@code Integer.MAX_VALUE - 1000}, as that one does. In a context with Holdfast's configuration
 * it ends before anything else stops. Thread-safe.
 */
public final class HoldfastLeaderInitiator implements SmartLifecycle, DisposableBean, ApplicationEventPublisherAware {

    private final LockClient client;
    private final Candidate candidate;
    private final LeadershipOptions options;
    private final DefaultLeaderEventPublisher events = new DefaultLeaderEventPublisher();

    /** Null while this is stopped. */
    private final AtomicReference<@Nullable Campaign> campaign = new AtomicReference<>();

    /** Creates an initiator with default options. */
    public HoldfastLeaderInitiator(LockClient client, Candidate candidate) {
        this(client, candidate, LeadershipOptions.defaults());
    }

    /** Creates an initiator. The name of the leadership is the role of the candidate. */
    public HoldfastLeaderInitiator(LockClient client, Candidate candidate, LeadershipOptions options) {
        this.client = requireNonNull(client, "client");
        this.candidate = requireNonNull(candidate, "candidate");
        this.options = requireNonNull(options, "options");
    }

    @Override
    public void setApplicationEventPublisher(ApplicationEventPublisher publisher) {
        events.setApplicationEventPublisher(publisher);
    }

    /** Returns whether this process leads, with a method that resigns. */
    public Context getContext() {
        return context;
    }

    private final Context context = new Context() {
        @Override
        public boolean isLeader() {
            Leadership now = leadership();
            return now != null && now.isLeader();
        }

        @Override
        public void yield() {
            Leadership now = leadership();
            if (now != null) {
                now.resign();
            }
        }

        @Override
        public String getRole() {
            return candidate.getRole();
        }

        private @Nullable Leadership leadership() {
            Campaign now = campaign.get();
            return now == null ? null : now.leadership.getNow(null);
        }
    };

    /** The time from a start to a stop. */
    private final class Campaign implements LeadershipListener {

        final CompletableFuture<@Nullable Leadership> leadership = new CompletableFuture<>();

        @Override
        public void onElected(Term term) throws InterruptedException {
            // The start is about to complete it; the candidate may ask the context.
            leadership.join();
            candidate.onGranted(context);
            events.publishOnGranted(HoldfastLeaderInitiator.this, context, candidate.getRole());
        }

        @Override
        public void onRevoked(Term term) {
            try {
                candidate.onRevoked(context);
            } finally {
                events.publishOnRevoked(HoldfastLeaderInitiator.this, context, candidate.getRole());
            }
        }
    }

    @Override
    public void start() {
        Campaign begun = new Campaign();
        if (campaign.compareAndSet(null, begun)) {
            try {
                begun.leadership.complete(client.leadership(candidate.getRole(), begun, options));
            } catch (RuntimeException e) {
                campaign.set(null);
                throw e;
            }
        }
    }

    /** Waits as {@link Leadership#close} does. */
    @Override
    public void stop() {
        Campaign last = campaign.getAndSet(null);
        Leadership now = last == null ? null : last.leadership.getNow(null);
        if (now != null) {
            now.close();
        }
    }

    @Override
    public void destroy() {
        stop();
    }

    @Override
    public boolean isRunning() {
        return campaign.get() != null;
    }

    @Override
    public int getPhase() {
        return Integer.MAX_VALUE - 1000;
    }
}
