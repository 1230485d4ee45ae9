/**
 * Who holds which lock and who waits for it: what a command line or a page shows. Start at {@link
 * io.holdfast.console.LockWatch}: each look reads the cards of all clients, asks the store where the cards do not say
 * enough, and returns a {@link io.holdfast.console.LockPicture}.
 *
 * <p>A picture is for people. Cards are up to a period old, and whoever may write the store can forge them. All texts
 * are the writers': escape them where they are shown.
 */
@NullMarked
package io.holdfast.console;

import org.jspecify.annotations.NullMarked;
