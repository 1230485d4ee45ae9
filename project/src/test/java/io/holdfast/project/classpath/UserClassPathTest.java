package io.holdfast.project.classpath;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.project.classpath.UserProjects.Project;
import io.holdfast.testkit.servers.RedisServer;
import io.holdfast.testkit.servers.ThrowAwayCa;
import io.holdfast.testkit.servers.ZooKeeperEnsemble;
import io.lettuce.core.RedisClient;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The stores on the class paths that projects of users resolve. Those of our own tests are others, because our parent's
 * POM manages versions for them.
 */
@Timeout(600)
class UserClassPathTest {

    private static final List<String> BOTH = List.of("redis", "zookeeper");
    private static final List<String> REVERSED = List.of("zookeeper", "redis");
    private static final Pattern NETTY = Pattern.compile("netty-(?!tcnative)[a-z-]+-(\\d[\\w.]+?)(-\\w+)?\\.jar");

    @TempDir
    private Path dir;

    /** Without Maven: what keeps a second Netty from an application that has both stores. */
    @Test
    void users_get_the_netty_of_lettuce_with_the_zookeeper_module() throws IOException {
        assertThat(UserProjects.pom("zookeeper"))
                .contains("<netty.version>${lettuce.netty.version}</netty.version>")
                .containsPattern("<artifactId>zookeeper</artifactId>\\s*<exclusions>(?:(?!</exclusions>)[\\s\\S])*"
                        + "<groupId>io.netty</groupId>\\s*<artifactId>\\*</artifactId>");
        try (var pom = RedisClient.class.getResourceAsStream("/META-INF/maven/io.lettuce/lettuce-core/pom.xml")) {
            assertThat(new String(pom.readAllBytes(), StandardCharsets.UTF_8))
                    .containsPattern("<artifactId>netty-handler</artifactId>\\s*<version>"
                            + Pattern.quote(UserProjects.property("lettuce.netty.version")) + "</version>");
        }
    }

    /** Redis failed with "NoClassDefFoundError: io/netty/channel/epoll/EpollIoHandler". */
    @Test
    @Tag("deep") // resolves with Maven; quick: the test above
    void stores_of_redis_and_zookeeper_open_beside_each_other() throws Exception {
        open(List.of(new Project(BOTH, ""), new Project(REVERSED, "")));
    }

    @Test
    @Tag("deep") // quick: the first test
    void stores_open_alone_and_together_and_with_the_versions_of_others() throws Exception {
        List<Project> projects = new ArrayList<>();
        for (String management : List.of(
                "",
                "io.holdfast:holdfast-bom:" + UserProjects.own(),
                "org.springframework.boot:spring-boot-dependencies:" + UserProjects.property("spring-boot-3.version"),
                "org.springframework.boot:spring-boot-dependencies:" + UserProjects.property("spring-boot.version"))) {
            for (List<String> modules :
                    List.of(List.of("redis"), List.of("zookeeper"), BOTH, REVERSED, List.of("cli"))) {
                projects.add(new Project(modules, management));
            }
        }
        open(projects);
    }

    private void open(List<Project> projects) throws Exception {
        Map<Project, List<String>> paths = new UserProjects(dir).resolve(projects);
        Path main = program();
        ThrowAwayCa ca = new ThrowAwayCa(Files.createDirectories(dir.resolve("tls")), "ip:127.0.0.1");
        Path keys = Files.writeString(
                dir.resolve("server.pem"), Files.readString(ca.key()) + Files.readString(ca.certificate()));
        try (RedisServer redis = RedisServer.start();
                ZooKeeperEnsemble zookeeper = ZooKeeperEnsemble.start(
                        1,
                        "-Dzookeeper.serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory",
                        "-Dzookeeper.client.portUnification=true",
                        "-Dzookeeper.ssl.keyStore.location=" + keys,
                        "-Dzookeeper.ssl.clientAuth=none")) {
            Set<Set<String>> done = new HashSet<>();
            for (Map.Entry<Project, List<String>> each : paths.entrySet()) {
                Project project = each.getKey();
                assertThat(nettyVersions(each.getValue()))
                        .as("Netty of %s", project)
                        .hasSize(1);
                if (!done.add(new HashSet<>(each.getValue()))) {
                    continue;
                }
                List<String> uris = new ArrayList<>();
                if (!project.modules().equals(List.of("zookeeper"))) {
                    uris.add(redis.uri());
                }
                if (!project.modules().equals(List.of("redis"))) {
                    uris.add(zookeeper.uri());
                    uris.add(zookeeper.uri() + "?tls=true&timeout=20s&ca=" + ca.ca());
                }
                assertThat(run(main, each.getValue(), uris)).as("%s", project).endsWith("ended with 0");
            }
        }
    }

    private static Set<String> nettyVersions(List<String> path) {
        Set<String> versions = new TreeSet<>();
        for (String jar : path) {
            Matcher matcher = NETTY.matcher(Path.of(jar).getFileName().toString());
            if (matcher.matches()) {
                versions.add(matcher.group(1));
            }
        }
        return versions;
    }

    /** Copies the program alone, without what else the tests have. */
    private Path program() throws IOException {
        String file = OpensStores.class.getName().replace('.', '/') + ".class";
        Path copy = dir.resolve("program").resolve(file);
        Files.createDirectories(copy.getParent());
        try (var in = OpensStores.class.getClassLoader().getResourceAsStream(file)) {
            Files.copy(in, copy);
        }
        return dir.resolve("program");
    }

    private static String run(Path main, List<String> path, List<String> uris)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                main + File.pathSeparator + String.join(File.pathSeparator, path),
                OpensStores.class.getName()));
        command.addAll(uris);
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return said + "ended with " + process.waitFor();
    }
}
