@NullMarked
package io.holdfast.sql;

import org.jspecify.annotations.NullMarked;
