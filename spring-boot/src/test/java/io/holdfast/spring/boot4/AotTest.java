package io.holdfast.spring.boot4;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.reflection;

import io.holdfast.jdbc.JdbcOnce;
import io.holdfast.spring.boot.HoldfastProperties;
import io.holdfast.testkit.servers.ChildJvm;
import io.holdfast.testkit.servers.RedisServer;
import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.GeneratedFiles;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.boot.SpringApplicationAotProcessor;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.aot.AbstractAotProcessor.Settings;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.javapoet.ClassName;
import org.springframework.util.ReflectionUtils;

/**
 * Spring's processing ahead of time: the hints that a native image needs, and an application that runs from what was
 * made. On the JVM, since there is no GraalVM here.
 */
@Tag("deep")
class AotTest {

    @TempDir
    Path dir;

    @Test
    void hints_are_there_for_all_that_is_done_by_reflection() throws Exception {
        InMemoryGeneratedFiles files = new InMemoryGeneratedFiles();
        DefaultGenerationContext generation =
                new DefaultGenerationContext(new ClassNameGenerator(ClassName.get(AotApplication.class)), files);
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            TestPropertyValues.of("management.endpoints.web.exposure.include=locks")
                    .applyTo(context);
            context.register(AotApplication.class);
            new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
        }
        generation.writeGeneratedContent();
        RuntimeHints hints = generation.getRuntimeHints();

        assertThat(reflection().onMethodInvocation(AotApplication.Request.class, "siteId"))
                .as("the key's property")
                .accepts(hints);
        assertThat(reflection().onMethodInvocation(AotApplication.Receipt.class, "number"))
                .as("the stored result")
                .accepts(hints);
        assertThat(reflection().onType(JdbcOnce.class))
                .as("looked for by its name")
                .accepts(hints);
        assertThat(reflection().onMethodInvocation(ReflectionUtils.findMethod(AotApplication.Work.class, "instead")))
                .as("the fallback")
                .accepts(hints);
        assertThat(reflection()
                        .onMethodInvocation(ReflectionUtils.findMethod(
                                Class.forName("io.holdfast.spring.declaration.LockedRoot"), "getMethodName")))
                .as("#root")
                .accepts(hints);
        assertThat(reflection().onType(HoldfastProperties.class)).accepts(hints);
        assertThat(reflection()
                        .onFieldAccess(ReflectionUtils.findField(LettuceConnectionFactory.class, "configuration")))
                .as("how the application's connections are configured")
                .accepts(hints);
        assertThat(files.getGeneratedFiles(GeneratedFiles.Kind.CLASS).keySet())
                .as("the proxy, which cannot be made at run time there")
                .anyMatch(name -> name.contains("AotApplication$Work$$SpringCGLIB$$"));
    }

    @Test
    void an_application_runs_from_what_was_made() throws Exception {
        Path classes = dir.resolve("classes");
        Settings settings = Settings.builder()
                .sourceOutput(dir.resolve("sources"))
                .resourceOutput(dir.resolve("resources"))
                .classOutput(classes)
                .groupId("io.holdfast.tests")
                .artifactId("aot")
                .build();
        new SpringApplicationAotProcessor(AotApplication.class, settings, new String[] {}).process();
        compile(dir.resolve("sources"), classes);
        assertThat(dir.resolve("resources/META-INF/native-image/io.holdfast.tests/aot/reachability-metadata.json"))
                .content()
                .contains(AotApplication.Request.class.getName());

        try (RedisServer server = RedisServer.start()) {
            Process jvm = ChildJvm.command(
                            "-Dspring.aot.enabled=true",
                            "-cp",
                            classes
                                    + File.pathSeparator
                                    + dir.resolve("resources")
                                    + File.pathSeparator
                                    + System.getProperty("java.class.path"),
                            AotApplication.class.getName(),
                            "--spring.data.redis.url=" + server.uri())
                    .redirectErrorStream(true)
                    .start();
            jvm.getOutputStream().close();
            String said = new String(jvm.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(jvm.waitFor()).as("%s", said).isZero();
            assertThat(said).contains("led aot");
            assertThat(said).contains("limited aot by true");
            assertThat(said).contains("settled [Receipt[id=17, number=1]], [Receipt[id=17, number=1]]");
            assertThat(said).contains("answer report:17 by true, marked:t1, AotApplication$Work$$SpringCGLIB$$0");
        }
    }

    private static void compile(Path sources, Path classes) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter said = new StringWriter();
        List<Path> files = new ArrayList<>();
        try (Stream<Path> all = Files.walk(sources)) {
            all.filter(file -> file.toString().endsWith(".java")).forEach(files::add);
        }
        assertThat(files).isNotEmpty();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
            boolean compiled = compiler.getTask(
                            said,
                            manager,
                            null,
                            List.of(
                                    "-proc:none",
                                    "-nowarn",
                                    "-d",
                                    classes.toString(),
                                    "-cp",
                                    classes + File.pathSeparator + System.getProperty("java.class.path")),
                            null,
                            manager.getJavaFileObjectsFromPaths(files))
                    .call();
            assertThat(compiled).as("%s", said).isTrue();
        }
    }
}
