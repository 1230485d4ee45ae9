package io.holdfast.cdi;

import jakarta.enterprise.inject.se.SeContainer;
import jakarta.enterprise.inject.se.SeContainerInitializer;

/** Starts containers. */
final class Containers {

    private Containers() {}

    /** Starts a container with these beans, whose locks are at this store. */
    static SeContainer start(String store, Class<?>... beans) {
        System.setProperty("holdfast.store", store);
        try {
            return SeContainerInitializer.newInstance().addBeanClasses(beans).initialize();
        } finally {
            System.clearProperty("holdfast.store");
        }
    }
}
