/**
 * Holdfast in Spring Boot: the client on the application's own Redis, its settings, its life, and what is seen of it.
 */
@NullMarked
package io.holdfast.spring.boot;

import org.jspecify.annotations.NullMarked;
