package io.holdfast.redis.connect;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.ClientOptions;
import org.junit.jupiter.api.Test;

/** Runs on Lettuce 7. The tests of spring-boot-3 run on Lettuce 6. */
public class DriverVersionTest {

    @Test
    void maintNotificationsAreSwitchedOff() {
        ClientOptions.Builder options = ClientOptions.builder();
        assertThat(options.build().getMaintNotificationsConfig().maintNotificationsEnabled())
                .as("the driver's own choice; if it is off, switching it off is no longer needed")
                .isTrue();
        DriverVersion.disableMaintNotifications(options);
        assertThat(options.build().getMaintNotificationsConfig().maintNotificationsEnabled())
                .isFalse();
    }
}
