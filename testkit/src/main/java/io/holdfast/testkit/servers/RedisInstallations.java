package io.holdfast.testkit.servers;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Finds the servers that run on this machine. Thread-safe; looks once for each JVM. */
final class RedisInstallations {

    private static final Pattern VERSION = Pattern.compile("(?i)^(\\w*)\\s*server v=(\\d+(?:\\.\\d+)*)");

    private static final List<Installation> FOUND = find();

    private RedisInstallations() {}

    /**
     * Returns the bundled server, those in HOLDFAST_SERVERS and those on the PATH, each version once, in this order.
     * With {@code -Dholdfast.quick=true} the PATH counts only where there is no other: the quick tests run on the same
     * server on every machine.
     */
    static List<Installation> all() {
        return FOUND;
    }

    /** Returns the first server, which is the bundled one where it runs. */
    static Installation preferred() {
        if (FOUND.isEmpty()) {
            throw new IllegalStateException(
                    "No Redis server can be run here: the one in embedded-redis does not run on "
                            + System.getProperty("os.name") + " " + System.getProperty("os.arch")
                            + " (on Linux it needs libssl3), and there is no redis-server or valkey-server on the PATH"
                            + " or in HOLDFAST_SERVERS; install one of them.");
        }
        return FOUND.get(0);
    }

    /** Asks an executable for its version. Returns empty if it does not run or is no Redis or Valkey server. */
    static Optional<Installation> probe(Path executable) {
        try {
            Process process = new ProcessBuilder(executable.toString(), "--version")
                    .redirectErrorStream(true)
                    .start();
            process.getOutputStream().close();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                return Optional.empty();
            }
            Matcher matcher = VERSION.matcher(said);
            if (process.exitValue() != 0 || !matcher.find()) {
                return Optional.empty();
            }
            String kind = matcher.group(1).equalsIgnoreCase("valkey") ? "Valkey" : "Redis";
            return Optional.of(new Installation(kind + " " + matcher.group(2), executable, matcher.group(2)));
        } catch (IOException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    static Optional<Path> onPath(String program) {
        for (String dir : env("PATH")) {
            Path file = Path.of(dir, program);
            if (Files.isExecutable(file) && !Files.isDirectory(file)) {
                return Optional.of(file);
            }
        }
        return Optional.empty();
    }

    private static List<Installation> find() {
        List<Path> candidates = new ArrayList<>();
        bundled().ifPresent(candidates::add);
        env("HOLDFAST_SERVERS").forEach(path -> candidates.add(Path.of(path)));
        if (candidates.isEmpty() || !Boolean.getBoolean("holdfast.quick")) {
            onPath("redis-server").ifPresent(candidates::add);
            onPath("valkey-server").ifPresent(candidates::add);
        }

        Map<String, Installation> byLabel = new LinkedHashMap<>();
        for (Path candidate : candidates) {
            probe(candidate).ifPresent(found -> byLabel.putIfAbsent(found.label(), found));
        }
        return List.copyOf(byLabel.values());
    }

    private static List<String> env(String name) {
        String value = System.getenv(name);
        if (value == null) {
            return List.of();
        }
        List<String> parts = new ArrayList<>();
        for (String part : value.split(File.pathSeparator, -1)) {
            if (!part.isBlank()) {
                parts.add(part);
            }
        }
        return parts;
    }

    private static Optional<Path> bundled() {
        String resource = bundledName();
        URL url = resource == null ? null : RedisInstallations.class.getResource("/" + resource);
        if (resource == null || url == null) {
            return Optional.empty();
        }
        try {
            return Optional.of(extracted(resource, url));
        } catch (IOException e) {
            System.getLogger(RedisInstallations.class.getName())
                    .log(System.Logger.Level.WARNING, "Could not unpack the Redis server of embedded-redis", e);
            return Optional.empty();
        }
    }

    private static @Nullable String bundledName() {
        String os = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        boolean arm = System.getProperty("os.arch").equals("aarch64");
        boolean intel = List.of("amd64", "x86_64").contains(System.getProperty("os.arch"));
        if (os.contains("linux")) {
            return intel ? "redis-server-6.2.6-v5-linux-amd64" : arm ? "redis-server-6.2.7-linux-arm64" : null;
        }
        if (os.contains("mac")) {
            return intel ? "redis-server-6.2.6-v5-darwin-amd64" : arm ? "redis-server-6.2.6-v5-darwin-arm64" : null;
        }
        return null;
    }

    /**
     * Returns the resource as an executable file, unpacked once for each user. Processes that do so at the same time
     * each move a complete copy of their own into place.
     */
    private static Path extracted(String resource, URL url) throws IOException {
        Path temp = Files.createTempFile(resource, ".tmp");
        try {
            Path file = cacheFolder(temp).resolve(resource);
            if (Files.isExecutable(file)
                    && Files.size(file) == url.openConnection().getContentLengthLong()) {
                return file;
            }
            try (InputStream in = url.openStream()) {
                Files.copy(in, temp, StandardCopyOption.REPLACE_EXISTING);
            }
            Files.setPosixFilePermissions(temp, PosixFilePermissions.fromString("rwx------"));
            return Files.move(temp, file, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(temp);
        }
    }

    /**
     * Returns a folder that only this user can write to, because all users can write to the temporary folder itself.
     */
    static Path cacheFolder(Path ownFile) throws IOException {
        var ownerOnly = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
        Path parent = Path.of(System.getProperty("java.io.tmpdir"));
        Path folder = parent.resolve("holdfast-servers-" + System.getProperty("user.name"));
        try {
            Files.createDirectory(folder, ownerOnly);
        } catch (java.nio.file.FileAlreadyExistsException e) {
            // An earlier process made it, or it is a trap of another user.
            boolean ours = Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)
                    && Files.getOwner(folder, LinkOption.NOFOLLOW_LINKS).equals(Files.getOwner(ownFile));
            return ours ? folder : Files.createTempDirectory("holdfast-servers", ownerOnly);
        }
        return folder;
    }
}
