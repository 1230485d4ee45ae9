package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * The script {@code ./holdfast}, in a checkout that looks as if it were built, with a Java that only tells how it was
 * started.
 */
@EnabledOnOs(OS.LINUX) // looks at /proc
class LauncherTest {

    @TempDir
    private Path root;

    /**
     * Java opens its own files under the lowest free numbers, and the command of {@code exec} inherits the first three:
     * it would read Java's class library as its input.
     */
    @Test
    void aClosedStandardInputIsEmpty() throws Exception {
        assertThat(standardInput("<&-")).isEqualTo("/dev/null");
    }

    @Test
    void anOpenStandardInputStaysWhatItIs() throws Exception {
        Path in = Files.createFile(root.resolve("in"));
        assertThat(standardInput("<in")).isEqualTo(in.toRealPath().toString());
    }

    /** {@code ArchiveTest} shows the effect, with the launcher of the archive. */
    @Test
    void javasThreadDumpsStayOutOfTheOutput() throws Exception {
        checkout();
        shell("exec ./holdfast --version", 0);
        assertThat(Files.readAllLines(root.resolve("options"))).contains("-XX:+DisplayVMOutputToStderr");
    }

    /** Drivers of databases that are not in the archive. */
    @Test
    void aDriverComesBehindTheJars() throws Exception {
        checkout();
        shell("HOLDFAST_DRIVER=/opt/a.jar:/opt/b.jar exec ./holdfast ls", 0);
        assertThat(Files.readAllLines(root.resolve("options")))
                .contains(root + "/demo/target/holdfast/lib/*:/opt/a.jar:/opt/b.jar");
    }

    /** The program "script" gives a terminal to what it starts. */
    @Test
    void aBuildSaysAtATerminalHowFarItIs() throws Exception {
        checkout();
        Files.delete(root.resolve("demo/target/holdfast/built"));
        mvnw("""
                echo "[INFO] Downloaded from central: https://repository.example/a.pom (1 kB at 2 kB/s)"
                echo "[INFO] --- compiler:3.16.0:compile (default-compile) @ holdfast-core ---"
                echo "[INFO] --- compiler:3.16.0:testCompile (default-testCompile) @ holdfast-core ---"
                [ ! -e broken ] || { echo "[ERROR] One.java:[3,1] ';' expected"; exit 1; }
                """);
        String terminal = "script -qec './holdfast --version' /dev/null | tr -d '\\r'";
        assertThat(shell(terminal, 0))
                .isEqualTo("building Holdfast (first use)…\ndownloading what Maven needs, 1 so far\ncompiling core\n");
        Files.createFile(root.resolve("broken"));
        assertThat(shell(terminal, 0))
                .contains(
                        "\n[ERROR] One.java:[3,1] ';' expected\nholdfast: the build failed, see above (all of Maven's output: ");
        assertThat(Files.readString(root.resolve("arguments"))).startsWith("-B\n");

        shell("./holdfast --version 2>progress", 70);
        assertThat(Files.readString(root.resolve("arguments"))).startsWith("-q\n");
        assertThat(Files.readString(root.resolve("progress"))).doesNotContain("compiling", "downloading");
    }

    @Test
    void testPrintsTheNumbersOnly() throws Exception {
        checkout();
        mvnw("""
                echo "[INFO] Tests run: 4, Failures: 0, Errors: 0, Skipped: 1, Time elapsed: 0.1 s -- in io.holdfast.OneTest"
                echo "[WARNING] Tests run: 4, Failures: 0, Errors: 0, Skipped: 1"
                """);
        assertThat(shell("./holdfast test core OneTest#two -Dseed=7 2>progress", 0))
                .isEqualTo("core: Tests run: 4, Failures: 0, Errors: 0, Skipped: 1\n");
        assertThat(Files.readString(root.resolve("arguments")))
                .contains(
                        "-pl\ncore\n-am\n",
                        "\n-Pdeep\n-Dtest=OneTest#two\n",
                        "\n-Dseed=7\n",
                        "\n-Dtests.wanted=target/");
        assertThat(shell("./holdfast test core 2>progress", 0)).startsWith("core: Tests run: 4");
        assertThat(Files.readString(root.resolve("arguments"))).doesNotContain("-Dtest=", "-Pdeep");
    }

    @Test
    void testFailsWhenNoTestRan() throws Exception {
        checkout();
        mvnw("echo '[INFO] Tests are skipped.'\n");
        assertThat(shell("./holdfast test core OneTest 2>&1", 1)).contains("\nholdfast: core: no test ran (");
        mvnw("echo '[WARNING] Tests run: 3, Failures: 0, Errors: 0, Skipped: 3'\n");
        assertThat(shell("./holdfast test core OneTest 2>&1", 1))
                .contains("\nholdfast: core: no test ran: Tests run: 3");
    }

    @Test
    void testShowsWhatFailed() throws Exception {
        checkout();
        mvnw("""
                echo "[INFO] a thousand lines"
                echo "[INFO]  T E S T S"
                echo "seed 4711"
                echo "[ERROR] Tests run: 4, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 s -- in io.holdfast.OneTest"
                echo "java.lang.AssertionError: expected: 1"
                echo "[ERROR] Tests run: 4, Failures: 1, Errors: 0, Skipped: 0"
                exit 1
                """);
        assertThat(shell("./holdfast test core 2>&1", 1))
                .doesNotContain("a thousand lines")
                .contains("seed 4711\n", "java.lang.AssertionError: expected: 1\n")
                .contains("holdfast: core: failed: Tests run: 4, Failures: 1, Errors: 0, Skipped: 0 (");
    }

    @Test
    void testShowsWhyNothingWasCompiled() throws Exception {
        checkout();
        mvnw("""
                echo "[INFO] a thousand lines"
                echo "[ERROR] OneTest.java:[3,1] ';' expected"
                exit 1
                """);
        assertThat(shell("./holdfast test core 2>&1", 1))
                .contains("\n[ERROR] OneTest.java:[3,1] ';' expected\nholdfast: core: failed (")
                .doesNotContain("a thousand lines");
    }

    @Test
    void testSaysWhatItDoesAndWhereItIs() throws Exception {
        checkout();
        Files.writeString(root.resolve("demo/pom.xml"), "<artifactId>holdfast-core</artifactId>");
        Path tests = Files.createDirectories(root.resolve("demo/src/test/java"));
        Files.writeString(tests.resolve("QuickTest.java"), "class QuickTest {}");
        Files.writeString(tests.resolve("SlowTest.java"), "@Tag(\"deep\")\nclass SlowTest {}");
        Files.writeString(tests.resolve("AnyTest.java"), "abstract class AnyTest {}");
        mvnw("""
                echo "[INFO] --- compiler:3.16.0:compile (default-compile) @ holdfast-core ---"
                echo "[INFO] --- compiler:3.16.0:testCompile (default-testCompile) @ holdfast-core ---"
                echo "[INFO] --- compiler:3.16.0:compile (default-compile) @ holdfast-demo ---"
                echo "[INFO] --- compiler:3.16.0:testCompile (default-testCompile) @ holdfast-demo ---"
                echo "[INFO] Running io.holdfast.QuickTest"
                echo "[INFO] Running io.holdfast.QuickTest\\$Inner"
                echo "[ERROR] Tests run: 1, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 1 s <<< FAILURE! -- in io.holdfast.QuickTest"
                echo "[ERROR] Tests run: 1, Failures: 1, Errors: 0, Skipped: 0"
                exit 1
                """);
        shell("./holdfast test demo 2>progress", 1);
        assertThat(Files.readAllLines(root.resolve("progress")))
                .startsWith(
                        "testing demo, 1 class, with core (all of Maven's output: " + root.toRealPath()
                                + "/demo/target/test.log)",
                        "compiling core",
                        "compiling demo",
                        "compiling its tests",
                        "running 1 of 1: QuickTest",
                        "failed: QuickTest");
    }

    @Test
    void testOfNoModuleIsRefused() throws Exception {
        checkout();
        assertThat(shell("./holdfast test chore 2>&1", 64))
                .startsWith("holdfast: test: there is no module \"chore\" (did you mean core?)");
        assertThat(shell("./holdfast test 2>&1", 64)).startsWith("holdfast: test: there is no module \"\" (expected: ");
        assertThat(shell("./holdfast test somewhere 2>&1", 64))
                .startsWith("holdfast: test: there is no module \"somewhere\" (expected: ");
    }

    @Test
    void testOfNoClassOrMethodIsRefused() throws Exception {
        checkout();
        mvnw("echo '[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0'\n");
        assertThat(shell("./holdfast test core OnTest 2>&1", 64))
                .isEqualTo("holdfast: test: core has no test class \"OnTest\" (did you mean OneTest?)\n");
        assertThat(shell("./holdfast test core OneTest#tow 2>&1", 64))
                .isEqualTo("holdfast: test: OneTest has no test \"tow\" (did you mean two?)\n");
        assertThat(shell("./holdfast test demo OneTest#two 2>&1", 64))
                .isEqualTo("holdfast: test: the module \"demo\" has no tests\n");
        Files.createDirectories(root.resolve("demo/src/test"));
        assertThat(shell("./holdfast test demo OneTest#two 2>&1", 64))
                .isEqualTo("holdfast: test: demo has no test class \"OneTest\", but core has:"
                        + " ./holdfast test core OneTest#two\n");
        assertThat(root.resolve("arguments")).doesNotExist();
        // What is inherited from a library, or has a pattern, Maven knows.
        for (String known :
                new String[] {"io.holdfast.OneTest", "OneTest#ofALibrary", "'OneT*'", "'OneTest#t*'", "InnerTest"}) {
            assertThat(shell("./holdfast test core " + known + " 2>progress", 0))
                    .startsWith("core: Tests run: 3");
        }
    }

    private String standardInput(String redirection) throws IOException, InterruptedException {
        checkout();
        shell("exec ./holdfast --version " + redirection, 0);
        return Files.readString(root.resolve("told")).strip();
    }

    private void checkout() throws IOException {
        Path checkout = Path.of("..").toAbsolutePath().normalize();
        Files.copy(checkout.resolve("holdfast"), root.resolve("holdfast"));
        Files.createDirectories(root.resolve("core/src/main"));
        Files.writeString(root.resolve("pom.xml"), "<module>core</module>\n<module>demo</module>\n");
        Files.createFile(root.resolve("core/pom.xml"));
        Path tests = Files.createDirectories(root.resolve("core/src/test/java/io/holdfast"));
        Files.writeString(
                tests.resolve("OneTest.java"),
                "class OneTest {\n    void two() {}\n    static class InnerTest {}\n}\n");
        Path bin = Files.createDirectories(root.resolve("jdk/bin"));
        Files.writeString(root.resolve("jdk/release"), "JAVA_VERSION=\"17.0.1\"\n");
        executable(bin.resolve("java"), """
                #!/bin/sh
                stdin=$(readlink /proc/$$/fd/0)
                echo "$stdin" >told
                printf '%s\\n' "$@" >options
                """);
        executable(bin.resolve("javac"), "#!/bin/sh\n");
        Files.createDirectories(root.resolve("demo/target/holdfast"));
        Files.createFile(root.resolve("demo/pom.xml"));
        Files.createFile(root.resolve("demo/target/holdfast/built"));
    }

    /** A Maven that writes down its arguments, one in a line, and then does this. */
    private void mvnw(String script) throws IOException {
        executable(root.resolve("mvnw"), "#!/bin/sh\nprintf '%s\\n' \"$@\" >arguments\n" + script);
    }

    private static void executable(Path file, String script) throws IOException {
        assertThat(Files.writeString(file, script).toFile().setExecutable(true)).isTrue();
    }

    /** Runs a command in the checkout and returns what it printed. */
    private String shell(String command, int exitCode) throws IOException, InterruptedException {
        Path out = root.resolve("out");
        ProcessBuilder shell = new ProcessBuilder("sh", "-c", command);
        shell.directory(root.toFile())
                .redirectOutput(out.toFile())
                .environment()
                .put("JAVA_HOME", root.resolve("jdk").toString());
        Process process = shell.start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as("%s", Files.readString(out)).isEqualTo(exitCode);
        return Files.readString(out);
    }
}
