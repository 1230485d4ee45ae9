package io.holdfast.spring.boot;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Settings of the guard in the database.
 *
 * @param enabled Whether every transaction that a locked method surrounds begins with the check of its leases in the
 *     database. Needs holdfast-jdbc and the guard's table.
 * @param table Name of the guard's table.
 * @param epoch Number that counts before the tokens. Raise it in all processes when the locks move to another store.
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/spring.md#the-guard-in-the-database">
 *     The guard in the database</a>
 */
@ConfigurationProperties("holdfast.guard")
public record HoldfastGuardProperties(
        @DefaultValue("false") boolean enabled,
        @DefaultValue("holdfast_guard") String table,
        @DefaultValue("0") long epoch) {}
