package io.holdfast.spring.boot;

import io.holdfast.LockClient;

/** A bean that changes the settings of the auto-configured client, as the last before it is opened. */
@FunctionalInterface
public interface LockClientCustomizer {

    /** Changes settings; the store may be replaced, too. */
    void customize(LockClient.Builder builder);
}
