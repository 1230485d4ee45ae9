package io.holdfast.spring.boot;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings of the HTTP responses for requests that could not acquire their lock.
 *
 * @param enabled Whether to answer such requests with problem details. Otherwise they fail as with any exception.
 * @param busyStatus Status if others hold the lock for the whole wait time.
 * @param retryAfter Time after which the caller may try again, sent with the statuses 503 and 429.
 * @param order Order among the advices of the application. By default the last, so that its own handlers come first.
 */
@ConfigurationProperties("holdfast.web")
record HoldfastWebProperties(
        @DefaultValue("true") boolean enabled,
        @DefaultValue("409") int busyStatus,
        @DefaultValue("5s") Duration retryAfter,
        @DefaultValue("2147483647") int order) {}
