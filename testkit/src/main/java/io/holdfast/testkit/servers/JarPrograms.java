package io.holdfast.testkit.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.JarURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.jar.JarFile;
import java.util.stream.Stream;

/** Server programs in jars on the class path, unpacked once for each user. */
final class JarPrograms {

    /** Writes the programs of a jar into an empty folder. */
    @FunctionalInterface
    interface Unpacking {
        void unpack(JarFile jar, Path folder) throws IOException;
    }

    private JarPrograms() {}

    /**
     * Returns the folder with the programs of the jar that has this resource, or empty without such a jar. Processes
     * that unpack at the same time each move a complete folder of their own into place.
     */
    static Optional<Path> folder(String resource, Unpacking unpacking) throws IOException {
        URL found = ClassLoader.getSystemResource(resource);
        if (found == null || !(found.openConnection() instanceof JarURLConnection inJar)) {
            return Optional.empty();
        }
        JarFile jar = inJar.getJarFile();
        Path cache = cache();
        Path folder =
                cache.resolve(Path.of(jar.getName()).getFileName().toString().replaceAll("\\.jar$", ""));
        if (!Files.isDirectory(folder)) {
            Path own = Files.createTempDirectory(cache, "unpacking");
            try {
                unpacking.unpack(jar, own);
                Files.move(own, folder, StandardCopyOption.ATOMIC_MOVE);
            } catch (IOException e) {
                delete(own);
                // Another process may have been faster.
                if (!Files.isDirectory(folder)) {
                    throw e;
                }
            }
        }
        return Optional.of(folder);
    }

    private static Path cache() throws IOException {
        Path own = Files.createTempFile("holdfast-servers", ".tmp");
        try {
            return RedisInstallations.cacheFolder(own);
        } finally {
            Files.delete(own);
        }
    }

    /** Runs a command and returns what it wrote. */
    static String run(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException(command.get(0) + " failed: " + said.strip());
        }
        return said;
    }

    static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> {
                try {
                    Files.delete(file);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }
}
