package io.holdfast.project.classpath;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Resolves projects of users with Maven itself: with the POMs of this build in a local repository of their own, in
 * front of the one that this build uses. So what only our parent's POM manages does not reach them by accident.
 */
final class UserProjects {

    /**
     * A project of a user.
     *
     * @param modules the modules of Holdfast that it depends on, in that order
     * @param management the coordinates of the POM whose dependency management it imports; empty for none
     */
    record Project(List<String> modules, String management) {

        @Override
        public String toString() {
            return String.join(", ", modules) + (management.isEmpty() ? "" : ", managed by " + management);
        }
    }

    /** Those that a store needs, and the command line, which has all stores. */
    private static final List<String> MODULES =
            List.of("history", "core", "jdbc", "sql", "quorum", "redis", "zookeeper", "console", "cli");

    private static final long MINUTES = 9;

    private static final Path ROOT = root();

    private final Path dir;

    UserProjects(Path dir) {
        this.dir = dir;
    }

    private static Path root() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve("mvnw"))) {
            folder = folder.getParent();
        }
        return folder;
    }

    /** Returns the version of this build. */
    static String own() throws IOException {
        return inPom("<artifactId>holdfast-parent</artifactId>\\s*<version>(.*?)</version>");
    }

    /** Returns a property of the parent's POM. */
    static String property(String name) throws IOException {
        return inPom("<" + Pattern.quote(name) + ">(.*?)</");
    }

    /** Returns the POM of a module. */
    static String pom(String module) throws IOException {
        return Files.readString(ROOT.resolve(module).resolve("pom.xml"));
    }

    private static String inPom(String pattern) throws IOException {
        Matcher matcher = Pattern.compile(pattern).matcher(pom(""));
        if (!matcher.find()) {
            throw new IllegalStateException("pom.xml has no " + pattern);
        }
        return matcher.group(1);
    }

    /** Returns the class path of each project, resolved in one run of Maven. */
    Map<Project, List<String>> resolve(List<Project> projects) throws IOException, InterruptedException {
        Path repository = dir.resolve("repository");
        install(repository);
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < projects.size(); i++) {
            all.append("<module>p" + i + "</module>");
            Path project = Files.createDirectories(dir.resolve("p" + i));
            Files.writeString(project.resolve("pom.xml"), pom("p" + i, projects.get(i)));
        }
        Files.writeString(
                dir.resolve("pom.xml"), project("all", "<packaging>pom</packaging><modules>" + all + "</modules>"));
        maven(repository);
        Map<Project, List<String>> resolved = new LinkedHashMap<>();
        for (int i = 0; i < projects.size(); i++) {
            String path = Files.readString(dir.resolve("p" + i).resolve("class.path"));
            resolved.put(projects.get(i), List.of(path.strip().split(":")));
        }
        return resolved;
    }

    private void maven(Path repository) throws IOException, InterruptedException {
        String shared = System.getProperty("localRepository");
        Path tail = shared == null ? Path.of(System.getProperty("user.home"), ".m2", "repository") : Path.of(shared);
        String plugin = inPom("<artifactId>maven-dependency-plugin</artifactId>\\s*<version>(.*?)</version>");
        List<String> command = new ArrayList<>(List.of(
                ROOT.resolve("mvnw").toString(),
                "-B",
                "-ntp",
                "-f",
                dir.resolve("pom.xml").toString(),
                "-Dmaven.repo.local=" + repository,
                "-Dmaven.repo.local.tail=" + tail,
                "-Dmdep.outputFile=class.path",
                "-Dmdep.includeScope=runtime",
                "org.apache.maven.plugins:maven-dependency-plugin:" + plugin + ":build-classpath"));
        Path log = dir.resolve("maven.log");
        Process maven = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        boolean ended = maven.waitFor(MINUTES, TimeUnit.MINUTES);
        if (!ended) {
            maven.destroyForcibly();
        }
        if (!ended || maven.exitValue() != 0) {
            throw new IllegalStateException("Maven did not resolve the projects:\n" + Files.readString(log));
        }
    }

    // --- the repository ---

    private static void install(Path repository) throws IOException {
        install(repository, "holdfast-parent", ROOT.resolve("pom.xml"));
        install(repository, "holdfast-bom", ROOT.resolve("bom/pom.xml"));
        for (String module : MODULES) {
            Path classes = ROOT.resolve(module).resolve("target/classes");
            // A module that was not compiled is one that no project of the tests uses.
            if (Files.exists(classes)) {
                Path pom = install(
                        repository, "holdfast-" + module, ROOT.resolve(module).resolve("pom.xml"));
                String name = pom.getFileName().toString().replace(".pom", ".jar");
                jar(classes, pom.resolveSibling(name));
            }
        }
    }

    private static Path install(Path repository, String artifact, Path pom) throws IOException {
        Path folder = Files.createDirectories(
                repository.resolve("io/holdfast").resolve(artifact).resolve(own()));
        return Files.copy(pom, folder.resolve(artifact + "-" + own() + ".pom"), StandardCopyOption.REPLACE_EXISTING);
    }

    /** Packs classes: the jar itself may not be there yet, or be an old one. */
    private static void jar(Path classes, Path jar) throws IOException {
        try (OutputStream out = Files.newOutputStream(jar);
                JarOutputStream entries = new JarOutputStream(out)) {
            Files.walkFileTree(classes, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                    entries.putNextEntry(new JarEntry(classes.relativize(file).toString()));
                    Files.copy(file, entries);
                    entries.closeEntry();
                    return FileVisitResult.CONTINUE;
                }
            });
        }
    }

    // --- POMs ---

    private static String pom(String name, Project project) throws IOException {
        StringBuilder text = new StringBuilder();
        if (!project.management().isEmpty()) {
            String[] parts = project.management().split(":", 3);
            text.append("<dependencyManagement><dependencies>"
                    + dependency(parts[0], parts[1], parts[2], "<type>pom</type><scope>import</scope>")
                    + "</dependencies></dependencyManagement>");
        }
        text.append("<dependencies>");
        for (String module : project.modules()) {
            text.append(dependency("io.holdfast", "holdfast-" + module, own(), ""));
        }
        return project(name, text + "</dependencies>");
    }

    private static String dependency(String group, String artifact, String version, String more) {
        return "<dependency><groupId>" + group + "</groupId><artifactId>" + artifact + "</artifactId><version>"
                + version + "</version>" + more + "</dependency>";
    }

    private static String project(String name, String content) {
        return "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion>"
                + "<groupId>user</groupId><artifactId>" + name + "</artifactId><version>1</version>" + content
                + "</project>";
    }
}
