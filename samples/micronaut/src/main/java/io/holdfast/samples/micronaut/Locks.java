package io.holdfast.samples.micronaut;

import io.holdfast.LockClient;
import io.micronaut.context.annotation.Bean;
import io.micronaut.context.annotation.Factory;
import io.micronaut.context.annotation.Value;
import jakarta.inject.Singleton;

/** Makes the client. */
@Factory
class Locks {

    @Singleton
    @Bean(preDestroy = "close")
    LockClient locks(@Value("${holdfast.store}") String store) {
        return LockClient.connect(store);
    }
}
