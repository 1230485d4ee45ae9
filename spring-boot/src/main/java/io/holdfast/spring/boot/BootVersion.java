package io.holdfast.spring.boot;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.SpringBootVersion;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * Refuses Spring Boot 2 before its context is made, which would fail with a {@link NoClassDefFoundError}. Refuses Spring
 * Boot 3.0 to 3.3 too, where the first call of a missing method might be that of the stop. So this class needs no class
 * that Spring Boot 2 and Spring Framework 5 do not have.
 */
final class BootVersion implements ApplicationContextInitializer<ConfigurableApplicationContext> {

    @Override
    public void initialize(ConfigurableApplicationContext context) {
        check(SpringBootVersion.getVersion());
    }

    /**
     * @param version null if it is not known, which is no reason to refuse
     * @throws IllegalStateException if Spring Boot is too old
     */
    static void check(@Nullable String version) {
        if (version != null && version.matches("([12]|3\\.[0-3])\\..*")) {
            throw new IllegalStateException("Holdfast's starter needs Spring Boot 3.5 or 4.1, and this is " + version
                    + " (expected: a newer Spring Boot; or, on Java 17, io.holdfast:holdfast-redis with"
                    + " lettuce.version=6.6.0.RELEASE instead of the starter, and a LockClient bean of your own)");
        }
    }
}
