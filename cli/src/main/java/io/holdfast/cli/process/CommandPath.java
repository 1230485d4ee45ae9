package io.holdfast.cli.process;

import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Finds out whether a command can be started, as a shell does, before a lock is acquired for it. */
public final class CommandPath {

    /** The kind of file that has the name of a command. */
    public enum Found {
        EXECUTABLE,
        NOT_EXECUTABLE,
        DIRECTORY,
        NOTHING
    }

    /** Where Java looks when there is no search path. */
    private static final String WITHOUT_PATH = ":/bin:/usr/bin";

    private CommandPath() {}

    /**
     * Looks for a command.
     *
     * @param command with a slash in it, a file; otherwise a name to look for
     * @param searchPath folders, separated by colons; an empty one is the present folder. Null if there is none
     */
    public static Found find(String command, @Nullable String searchPath) {
        if (command.isEmpty()) {
            return Found.NOTHING;
        }
        if (command.contains("/")) {
            return look("", command);
        }
        Found best = Found.NOTHING;
        for (String folder : (searchPath == null ? WITHOUT_PATH : searchPath).split(":", -1)) {
            Found found = look(folder, command);
            if (found == Found.EXECUTABLE) {
                return found;
            }
            if (found == Found.NOT_EXECUTABLE) {
                best = found;
            }
        }
        return best;
    }

    private static Found look(String folder, String file) {
        Path path;
        try {
            path = Path.of(folder, file);
        } catch (InvalidPathException e) {
            return Found.NOTHING;
        }
        if (Files.isDirectory(path)) {
            return Found.DIRECTORY;
        }
        if (!Files.exists(path)) {
            return Found.NOTHING;
        }
        return Files.isExecutable(path) ? Found.EXECUTABLE : Found.NOT_EXECUTABLE;
    }
}
