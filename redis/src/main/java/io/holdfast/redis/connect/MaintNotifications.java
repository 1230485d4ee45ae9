package io.holdfast.redis.connect;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.MaintNotificationsConfig;

/**
 * Keeps the driver from asking a server for notices of its maintenance and following them to another address: the store itself decides
 * which server it talks to, and when a connection is given up.
 *
 * <p>Lettuce 7 does so unless told not to; Lettuce 6, which applications on Spring Boot 3.5 have, does not and has no such class. So what
 * names it is in a class of its own, that is loaded only where there is one.
 */
public final class MaintNotifications {

    private static final boolean KNOWN = DriverClasses.has("io.lettuce.core.MaintNotificationsConfig");

    private MaintNotifications() {}

    static void disable(ClientOptions.Builder options) {
        if (KNOWN) {
            OfLettuce7.disable(options);
        }
    }

    private static final class OfLettuce7 {

        static void disable(ClientOptions.Builder options) {
            options.maintNotificationsConfig(MaintNotificationsConfig.disabled());
        }
    }
}
