package io.holdfast.spring.test;

import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.ContextRefreshedEvent;

/**
 * Makes a context lead when its start returns, so that no test waits for an election. Contexts of other tests, which
 * Spring keeps, may lead: the last to start takes the leadership. Depends on the bean that begins the leaderships, so
 * Spring starts it after that bean.
 */
final class LeadAtOnce implements SmartLifecycle, ApplicationListener<ContextRefreshedEvent> {

    private final LockTester tester;
    private volatile boolean refreshed;
    private volatile boolean running;

    LeadAtOnce(LockTester tester) {
        this.tester = tester;
    }

    /** At the first start of a context, leaderships begin with the event. */
    @Override
    public void start() {
        running = true;
        if (refreshed) {
            tester.leadAll();
        }
    }

    @Override
    public void onApplicationEvent(ContextRefreshedEvent event) {
        refreshed = true;
        tester.leadAll();
    }

    @Override
    public void stop() {
        running = false;
    }

    @Override
    public boolean isRunning() {
        return running;
    }
}
