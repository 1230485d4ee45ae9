package io.holdfast.cli.process;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Sends signals other than the two that Java can send itself. */
public final class Kill {

    private Kill() {}

    /**
     * Sends the signal to each process, in this order; a process that is gone is skipped.
     *
     * @param signal its name without SIG, or its number, because a shell may not know the name of a rare one
     */
    public static void send(String signal, List<Long> pids) throws IOException, InterruptedException {
        // The shell's own kill: small images have no /bin/kill.
        List<String> command = new ArrayList<>(
                List.of("/bin/sh", "-c", "s=$1; shift; for p; do kill -s \"$s\" \"$p\"; done", "sh", signal));
        pids.forEach(pid -> command.add(pid.toString()));
        Process shell = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        shell.getOutputStream().close();
        shell.waitFor();
    }
}
