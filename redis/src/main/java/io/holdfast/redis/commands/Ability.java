package io.holdfast.redis.commands;

/** A command that mode {@code commands} uses if the server has it and lets this user run it. */
public enum Ability {
    /** {@code DELIFEQ key value}: Valkey 9.0. */
    DELIFEQ,
    /** {@code DELEX key IFEQ value}: Redis 8.4. */
    DELEX,
    /** {@code SET key value IFEQ expected}: Valkey 8.1, Redis 8.4. */
    SET_IFEQ,
    /** {@code WATCH}, {@code MULTI} and {@code EXEC}. */
    WATCH,
    /** {@code PUBLISH}. */
    PUBLISH
}
