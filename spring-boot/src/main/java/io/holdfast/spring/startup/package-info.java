@NullMarked
package io.holdfast.spring.startup;

import org.jspecify.annotations.NullMarked;
