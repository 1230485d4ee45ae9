package io.holdfast.engine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** What this process is called, for its card. Asks no name server: that can take seconds. */
public final class ProcessIdentity {

    private ProcessIdentity() {}

    /** Returns the name of the main class or jar of this process. */
    static String application() {
        String command = System.getProperty("sun.java.command", "").strip();
        int end = command.indexOf(' ');
        String main = end < 0 ? command : command.substring(0, end);
        String file = main.substring(Math.max(main.lastIndexOf('/'), main.lastIndexOf('\\')) + 1);
        String name = file.endsWith(".jar")
                ? file.substring(0, file.length() - ".jar".length())
                : file.substring(file.lastIndexOf('.') + 1);
        return name.isEmpty() ? "java" : name;
    }

    static String host() {
        Map<String, String> environment = System.getenv();
        for (String variable : new String[] {"HOSTNAME", "COMPUTERNAME"}) {
            String value = environment.get(variable);
            if (value != null && !value.isBlank()) {
                return value.strip();
            }
        }
        try {
            String line = Files.readString(Path.of("/etc/hostname")).strip();
            return line.isEmpty() ? "unknown" : line;
        } catch (IOException | RuntimeException e) {
            return "unknown";
        }
    }

    static long pid() {
        return ProcessHandle.current().pid();
    }

    public static String version() {
        String version = ProcessIdentity.class.getPackage().getImplementationVersion();
        return version == null ? "unknown" : version;
    }
}
