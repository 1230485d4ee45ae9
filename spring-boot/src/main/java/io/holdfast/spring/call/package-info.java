@NullMarked
package io.holdfast.spring.call;

import org.jspecify.annotations.NullMarked;
