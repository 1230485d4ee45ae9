package io.holdfast.spring.startup;

import io.holdfast.Leadership;
import io.holdfast.LeadershipListener;
import io.holdfast.LockClient;
import io.holdfast.leader.LeaderThreads;
import io.holdfast.spring.Leader;
import io.holdfast.spring.call.ContextLeaderships;
import io.holdfast.spring.declaration.LeaderReader;
import io.holdfast.spring.declaration.LeaderReader.Named;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.stream.Stream;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;

/**
 * Begins the leaderships of a context when all else has started, and closes them before anything else stops: work of a
 * leader needs the rest of the application. Closes also those that the application made itself.
 *
 * <p>A context that closes first publishes an event, at which executors and schedulers stop already, and then stops
 * what has a phase. So the close is at that event; a stop without a close, as before a checkpoint, is by the phase.
 */
public final class LeaderLifecycle
        implements SmartInitializingSingleton,
                SmartLifecycle,
                ApplicationListener<ContextRefreshedEvent>,
                Ordered,
                DisposableBean {

    private final ConfigurableApplicationContext context;
    private final ConfigurableListableBeanFactory beans;
    private final ContextLeaderships leaderships;
    private volatile boolean refreshed;
    private volatile boolean running;

    public LeaderLifecycle(ConfigurableApplicationContext context, ContextLeaderships leaderships) {
        this.context = context;
        this.beans = context.getBeanFactory();
        this.leaderships = leaderships;
    }

    /** Looks for listeners, and refuses the annotation on any other bean. */
    @Override
    public void afterSingletonsInstantiated() {
        for (String name : beans.getBeanNamesForAnnotation(Leader.class)) {
            Named named = LeaderReader.of(beans, name);
            leaderships.listen(
                    named.leadership(),
                    named.client(),
                    () -> beans.getBean(name, LeadershipListener.class),
                    named.place());
        }
        context.addApplicationListener(new FirstToStop());
    }

    /** Starts again after a stop. The first start is at the event after the last bean has started. */
    @Override
    public void start() {
        running = true;
        if (refreshed) {
            leaderships.begin();
        }
    }

    @Override
    public void onApplicationEvent(ContextRefreshedEvent event) {
        if (event.getApplicationContext() == context) {
            refreshed = true;
            leaderships.begin();
        }
    }

    @Override
    public void stop() {
        running = false;
        close();
    }

    /** Ends the leaderships of a context that fails to start. */
    @Override
    public void destroy() {
        close();
    }

    private void close() {
        Set<Leadership> all = new LinkedHashSet<>(leaderships.end());
        made(Leadership.class).forEach(all::add);
        made(LockClient.class).flatMap(client -> client.leaderships().stream()).forEach(all::add);
        // A leader's method that closes the context would otherwise wait for itself.
        LeaderThreads.leave();
        Leadership.closeAll(all);
    }

    /** Returns the beans of this type, without those of a parent context, that exist already. */
    private <T> Stream<T> made(Class<T> type) {
        return Stream.of(beans.getBeanNamesForType(type, false, false))
                .filter(beans::containsSingleton)
                .map(name -> beans.getBean(name, type));
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return Integer.MAX_VALUE;
    }

    /** Returns a place after the other listeners of a refresh, which may prepare the application. */
    @Override
    public int getOrder() {
        return LOWEST_PRECEDENCE - 1;
    }

    /** Comes before all other listeners of the event. */
    private final class FirstToStop implements ApplicationListener<ContextClosedEvent>, PriorityOrdered {

        @Override
        public void onApplicationEvent(ContextClosedEvent event) {
            if (event.getApplicationContext() == context) {
                close();
            }
        }

        @Override
        public int getOrder() {
            return HIGHEST_PRECEDENCE;
        }
    }
}
