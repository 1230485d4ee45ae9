/** What the operating system knows of processes and Java does not quite offer: signals, the search path, terminals. */
@NullMarked
package io.holdfast.cli.process;

import org.jspecify.annotations.NullMarked;
