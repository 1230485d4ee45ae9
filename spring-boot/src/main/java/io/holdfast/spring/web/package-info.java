/**
 * HTTP responses for requests that could not acquire their lock: {@link io.holdfast.spring.web.LockExceptionAdvice}.
 */
@NullMarked
package io.holdfast.spring.web;

import org.jspecify.annotations.NullMarked;
