package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LockClientBuilderTest {

    /** With one id they would be one owner at the store. */
    @Test
    void two_clients_of_one_builder_exclude_each_other() {
        LockClient.Builder builder = LockClient.builder().uri("memory:builder");
        try (LockClient first = builder.build();
                LockClient second = builder.build();
                Lease held = first.tryAcquire("a").orElseThrow()) {
            assertThat(second.tryAcquire("a")).isEmpty();
            assertThat(held.isValid()).isTrue();
        }
    }
}
