/** What a project resolves that depends on Holdfast, and whether the stores open with it. */
@NullMarked
package io.holdfast.project.classpath;

import org.jspecify.annotations.NullMarked;
