package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class LockClientBuilderTest {

    /** Two versions of a library: it was reported as the bare error. */
    @Test
    void a_class_that_is_missing_while_a_store_opens_is_said_to_be_a_matter_of_the_class_path() {
        LockClient.Builder builder = LockClient.builder().store(context -> {
            throw new NoClassDefFoundError("io/netty/channel/epoll/EpollIoHandler");
        });
        assertThatThrownBy(builder::build)
                .isInstanceOf(LockStoreException.class)
                .hasMessageStartingWith("The store cannot be opened, because the class path is wrong:"
                        + " NoClassDefFoundError, io.netty.channel.epoll.EpollIoHandler (give all artifacts");
    }

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
