/** Answers of HTTP requests whose lock could not be had: {@link io.holdfast.spring.web.LockExceptionAdvice}. */
@NullMarked
package io.holdfast.spring.web;

import org.jspecify.annotations.NullMarked;
