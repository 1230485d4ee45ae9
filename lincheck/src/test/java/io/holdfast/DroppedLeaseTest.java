package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compiles a user's snippets with an unchanged Error Prone, to show which dropped leases it refuses.
 *
 * <p>In this module, because Error Prone brings many libraries to the class path.
 */
class DroppedLeaseTest {

    private static final String REFUSED = "[CheckReturnValue] The result of ";

    private final List<String> calls = new ArrayList<>();

    @TempDir
    private Path folder;

    @Test
    void a_call_that_drops_its_lease_is_refused() throws Exception {
        for (String call : List.of(
                "locks.acquire(\"x\")",
                "locks.acquire(\"x\", options)",
                "locks.acquire(\"x\", wait)",
                "locks.tryAcquire(\"x\", wait)",
                "locks.tryAcquire(\"x\")",
                "locks.tryAcquire(\"x\", options)",
                "locks.acquireAsync(\"x\")",
                "locks.acquireAsync(\"x\", options)",
                "locks.tryAcquireAsync(\"x\", options)",
                "locks.acquireAsync(\"x\", wait)",
                "locks.tryAcquireAsync(\"x\")",
                "locks.tryAcquireAsync(\"x\", wait)",
                "locks.acquireAll(names)",
                "locks.acquireAllAsync(names)",
                "locks.acquireAll(names, options)",
                "locks.tryAcquireAll(names, options)",
                "locks.acquireAllAsync(names, options)",
                "locks.tryAcquireAllAsync(names)",
                "locks.tryAcquireAllAsync(names, options)")) {
            calls.add(call + ";");
        }

        String said = compile();

        assertThat(said.split(java.util.regex.Pattern.quote(REFUSED), -1))
                .as(said)
                .hasSize(calls.size() + 1);
    }

    /** The compiler accepts the last call, so the client looks for forgotten leases at run time. */
    @Test
    void a_call_that_uses_its_lease_is_not() throws Exception {
        calls.add("try (Lease lease = locks.acquire(\"x\")) { lease.ensureValid(); }");
        calls.add("var handedOn = locks.acquireAsync(\"x\").thenApply(lease -> lease.fencingToken());");
        calls.add("locks.tryAcquire(\"x\").ifPresent(lease -> lease.ensureValid());");

        assertThat(compile()).doesNotContain(REFUSED).doesNotContain("error:");
    }

    /** Returns what the compiler prints about a method with each of the calls. */
    private String compile() throws Exception {
        StringBuilder source = new StringBuilder(
                "package user;\nimport io.holdfast.*;\nimport java.time.Duration;\nimport java.util.List;\nclass User {\n");
        for (int i = 0; i < calls.size(); i++) {
            source.append("void call" + i
                            + "(LockClient locks, LockOptions options, Duration wait, List<String> names)")
                    .append(" throws Exception { " + calls.get(i) + " }\n");
        }
        Path file = Files.createDirectories(folder.resolve("user")).resolve("User.java");
        Files.writeString(file, source.append("}\n"));
        String classPath = System.getProperty("java.class.path");
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "javac").toString());
        for (String part :
                List.of("api", "code", "comp", "file", "main", "model", "parser", "processing", "tree", "util")) {
            command.add("-J--add-opens=jdk.compiler/com.sun.tools.javac." + part + "=ALL-UNNAMED");
        }
        command.addAll(List.of(
                "-J-XX:TieredStopAtLevel=1",
                "-J-XX:+UseSerialGC",
                "-XDcompilePolicy=simple",
                "-XDaddTypeAnnotationsToSymbol=true",
                "--should-stop=ifError=FLOW",
                "-Xplugin:ErrorProne",
                "-processorpath",
                jarsOf(classPath),
                "-classpath",
                classPath,
                "-d",
                folder.toString(),
                file.toString()));
        Path output = folder.resolve("output.txt");
        Process compiler = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(compiler.waitFor(2, TimeUnit.MINUTES)).isTrue();
        } finally {
            compiler.destroyForcibly();
        }
        return Files.readString(output);
    }

    /** Returns the jars of a class path, which contain the plug-in. */
    private static String jarsOf(String classPath) {
        List<String> jars = new ArrayList<>();
        for (String entry : classPath.split(File.pathSeparator, -1)) {
            if (entry.endsWith(".jar")) {
                jars.add(entry);
            }
        }
        return String.join(File.pathSeparator, jars);
    }
}
