package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jetbrains.kotlin.cli.common.ExitCode;
import org.jetbrains.kotlin.cli.jvm.K2JVMCompiler;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Kotlin users pass lambdas without type arguments. In this module, because the compiler brings many classes. */
@Tag("deep")
class KotlinFormsTest {

    @TempDir
    private Path folder;

    @Test
    void lambdas_compile_without_type_arguments() throws Exception {
        Path source = Files.writeString(folder.resolve("Use.kt"), """
                import io.holdfast.LockClient
                import io.holdfast.LockOptions
                import java.time.Duration
                import java.util.concurrent.CompletableFuture

                fun use(locks: LockClient, options: LockOptions) {
                    locks.run("a") { println(it.fencingToken()) }
                    locks.run("a", options) { lease -> throw java.io.IOException(lease.name()) }
                    val token: Long = locks.call("a") { it.fencingToken() }
                    val name: String = locks.call("a", options) { it.name() }
                    val ran: Boolean = locks.tryRun("a") { }
                    val ranInTime: Boolean = locks.tryRun("a", Duration.ofSeconds(1)) { }
                    val ranSo: Boolean = locks.tryRun("a", options) { it.ensureValid() }
                    locks.callAsync("a") { CompletableFuture.completedFuture(token.toString() + name + ran + ranInTime + ranSo) }
                    locks.acquire("a", Duration.ofSeconds(1)).use { it.ensureValid() }
                }
                """);
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        ExitCode code = new K2JVMCompiler()
                .exec(
                        new PrintStream(said, true, StandardCharsets.UTF_8),
                        source.toString(),
                        "-d",
                        folder.resolve("classes").toString(),
                        "-classpath",
                        System.getProperty("java.class.path"),
                        "-no-stdlib",
                        "-no-reflect");
        assertThat(code).as(said.toString(StandardCharsets.UTF_8)).isEqualTo(ExitCode.OK);
    }
}
