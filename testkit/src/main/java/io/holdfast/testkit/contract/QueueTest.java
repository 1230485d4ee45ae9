package io.holdfast.testkit.contract;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;

/** A test of the contract that applies to stores with a queue. */
@Test
@EnabledIf("hasQueue")
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@interface QueueTest {}
