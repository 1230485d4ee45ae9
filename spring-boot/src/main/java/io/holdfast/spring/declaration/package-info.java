@NullMarked
package io.holdfast.spring.declaration;

import org.jspecify.annotations.NullMarked;
