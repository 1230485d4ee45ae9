package io.holdfast.redis.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.spi.StoreException;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.protocol.RedisCommand;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** Runs on Lettuce 7. The tests of spring-boot-3 run on Lettuce 6. */
public class DriverVersionTest {

    /** As Lettuce 6.5, which Spring Boot 3.4 brings. */
    private static final class OptionsOfOldLettuce extends ClientOptions.Builder {

        @Override
        public ClientOptions.Builder replayFilter(Predicate<RedisCommand<?, ?, ?>> filter) {
            throw new NoSuchMethodError("replayFilter");
        }
    }

    /** Otherwise the opening ends in that error, which names no version. */
    @Test
    void anOldDriverIsRefusedByOneSentence() {
        assertThatThrownBy(() -> DriverVersion.requireReplayFilter(new OptionsOfOldLettuce()))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("is older than 6.6 here (expected: 6.6 or newer;");
        DriverVersion.requireReplayFilter(ClientOptions.builder());
    }

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
