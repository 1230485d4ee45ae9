package io.holdfast.spring.boot;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings of methods whose work is done once for each key.
 *
 * @param purgeEvery Time after which one instance deletes the keys that were kept for long enough, again and again. With
 *     0, the application does so itself.
 */
@ConfigurationProperties("holdfast.idempotent")
record HoldfastIdempotentProperties(@DefaultValue("1h") Duration purgeEvery) {}
