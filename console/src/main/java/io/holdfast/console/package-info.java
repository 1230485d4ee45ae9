/**
 * The holder and the waiters of each lock, as a command line or a page shows them. Start at {@link
 * io.holdfast.console.LockWatch}: each look reads the cards of all clients, asks the store where the cards do not say
 * enough, and returns a {@link io.holdfast.console.LockPicture}.
 *
 * <p>A picture is for people. Cards are up to a period old, and every client of the store can forge them. All texts
 * are their writers': escape them where you show them.
 */
@NullMarked
package io.holdfast.console;

import org.jspecify.annotations.NullMarked;
