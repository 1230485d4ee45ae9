package io.holdfast.redis.connect;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.ClientOptions;
import org.junit.jupiter.api.Test;

/** On the driver that knows of them; on Lettuce 6, which does not, the tests of spring-boot-3 run. */
public class MaintNotificationsTest {

    @Test
    void are_switched_off_where_the_driver_knows_of_them() {
        ClientOptions.Builder options = ClientOptions.builder();
        assertThat(options.build().getMaintNotificationsConfig().maintNotificationsEnabled())
                .as("the driver's own choice, else this is needed no more")
                .isTrue();
        MaintNotifications.disable(options);
        assertThat(options.build().getMaintNotificationsConfig().maintNotificationsEnabled())
                .isFalse();
    }
}
