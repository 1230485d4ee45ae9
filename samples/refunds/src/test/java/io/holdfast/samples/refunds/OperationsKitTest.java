package io.holdfast.samples.refunds;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.servers.RedisServer;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.yaml.snakeyaml.Yaml;

/**
 * What samples/operations says of the application is true of it: settings, ports, paths and times. Nothing starts a
 * container here.
 */
class OperationsKitTest {

    private static final Path KIT = Path.of("..", "operations");

    /** How long a leader of Holdfast may take to stop: a third of the lease time. */
    private static final Duration LEADER = Duration.ofSeconds(10);

    private final HttpClient http = HttpClient.newHttpClient();

    @Test
    void each_variable_is_a_setting() throws Exception {
        Set<String> known = new HashSet<>();
        for (URL metadata : Collections.list(Thread.currentThread()
                .getContextClassLoader()
                .getResources("META-INF/spring-configuration-metadata.json"))) {
            try (var content = metadata.openStream()) {
                Pattern.compile("\"name\"\\s*:\\s*\"([a-z0-9.-]+)\"")
                        .matcher(new String(content.readAllBytes(), StandardCharsets.UTF_8))
                        .results()
                        .forEach(name -> known.add(variable(name.group(1))));
            }
        }
        assertThat(kubernetes()).hasSize(3);
        Set<String> unknown = new TreeSet<>(compose().keySet());
        unknown.addAll(kubernetes().keySet());
        unknown.removeAll(known);
        assertThat(unknown).isEmpty();
    }

    private static String variable(String setting) {
        return setting.replace("-", "").replace('.', '_').toUpperCase(java.util.Locale.ROOT);
    }

    @Test
    void the_paths_of_the_probes_and_of_prometheus_answer_and_the_probes_do_not_depend_on_the_store() throws Exception {
        Map<String, Object> pod = at(document("kubernetes.yaml", "Deployment"), "spec", "template", "spec");
        Map<String, Object> container = container(pod);
        Object port = at(list(container.get("ports")).get(0)).get("containerPort");
        assertThat(port).isEqualTo(8080);
        Map<String, Object> scraped =
                at(list(document("prometheus.yaml").get("scrape_configs")).get(0));
        assertThat(at(list(scraped.get("dns_sd_configs")).get(0)).get("port")).isEqualTo(port);

        RedisServer redis = RedisServer.start();
        try (redis;
                ConfigurableApplicationContext app = start(kubernetes(), redis.uri())) {
            String own = String.valueOf(app.getEnvironment().getProperty("local.server.port"));
            assertThat(get(own, "/orders/42/refunds").statusCode()).isEqualTo(200);
            assertThat(get(own, String.valueOf(scraped.get("metrics_path"))).body())
                    .contains("holdfast_renewal_lag_seconds");
            redis.kill();
            for (String probe : List.of("startupProbe", "livenessProbe", "readinessProbe")) {
                String path = String.valueOf(at(container, probe, "httpGet").get("path"));
                HttpResponse<String> answer = get(own, path);
                assertThat(answer.statusCode()).as(path + answer.body()).isEqualTo(200);
                assertThat(answer.body()).contains("\"UP\"");
            }
        }
    }

    @Test
    void a_pod_ends_later_than_its_work() throws Exception {
        Map<String, Object> pod = at(document("kubernetes.yaml", "Deployment"), "spec", "template", "spec");
        Object preStop = at(container(pod), "lifecycle", "preStop", "sleep").get("seconds");
        assertThat(seconds(pod.get("terminationGracePeriodSeconds")))
                .isGreaterThanOrEqualTo(
                        seconds(preStop).plus(phase(kubernetes())).plus(LEADER));
        Map<String, Object> service = at(document("compose.yaml"), "services", "refunds");
        assertThat(seconds(String.valueOf(service.get("stop_grace_period")).replace("s", "")))
                .isGreaterThanOrEqualTo(phase(compose()).plus(LEADER));
    }

    private static Duration phase(Map<String, String> environment) {
        return Duration.parse("PT" + environment.get("SPRING_LIFECYCLE_TIMEOUTPERSHUTDOWNPHASE"));
    }

    private static Duration seconds(Object number) {
        return Duration.ofSeconds(Long.parseLong(String.valueOf(number)));
    }

    @Test
    void redis_takes_its_command_line() throws Exception {
        List<Object> words =
                list(at(document("compose.yaml"), "services", "redis").get("command"));
        assertThat(words.get(0)).isEqualTo("redis-server");
        String[] options = words.stream().skip(1).map(String::valueOf).toArray(String[]::new);
        try (RedisServer redis = RedisServer.builder().args(options).start()) {
            for (int i = 0; i < options.length; i += 2) {
                String name = options[i].substring(2);
                String expected = options[i + 1].equals("256mb") ? "268435456" : options[i + 1];
                assertThat(String.valueOf(redis.command("CONFIG", "GET", name)))
                        .isEqualTo("[" + name + ", " + expected + "]");
            }
        }
    }

    @Test
    void the_files_that_containers_read_are_there() throws Exception {
        for (Object service : at(document("compose.yaml"), "services").values()) {
            for (Object volume : list(at(service).getOrDefault("volumes", List.of()))) {
                String file = String.valueOf(volume).split(":", 2)[0];
                if (file.startsWith("./")) {
                    assertThat(KIT.resolve(file)).isRegularFile();
                } else if (file.startsWith("..")) {
                    assertThat(file).isEqualTo("../refunds/target/holdfast-sample-refunds-" + version() + ".jar");
                }
            }
        }
        assertThat(Files.readString(KIT.resolve("Dockerfile"))).contains("holdfast-cli-" + version() + ".tar.gz");
    }

    private static String version() throws Exception {
        return Files.readString(Path.of("pom.xml")).replaceFirst("(?s).*?<version>(.*?)</version>.*", "$1");
    }

    /** Starts the application with these variables of the environment. */
    private static ConfigurableApplicationContext start(Map<String, String> variables, String redisUri) {
        Map<String, Object> environment = new LinkedHashMap<>(variables);
        environment.put("SPRING_DATA_REDIS_URL", redisUri);
        StandardEnvironment standard = new StandardEnvironment();
        standard.getPropertySources()
                .replace(
                        StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME,
                        new SystemEnvironmentPropertySource(
                                StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME, environment));
        SpringApplication application = new SpringApplication(RefundsApplication.class);
        application.setEnvironment(standard);
        return application.run(
                "--holdfast.test.enabled=false",
                "--server.port=0",
                "--spring.jmx.enabled=false",
                "--logging.level.root=error",
                "--spring.main.banner-mode=off");
    }

    private HttpResponse<String> get(String port, String path) throws Exception {
        return http.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private static Map<String, String> compose() throws Exception {
        Map<String, String> variables = new LinkedHashMap<>();
        at(document("compose.yaml"), "services", "refunds", "environment")
                .forEach((name, value) -> variables.put(name, String.valueOf(value)));
        return variables;
    }

    private static Map<String, String> kubernetes() throws Exception {
        Map<String, String> variables = new LinkedHashMap<>();
        for (Object variable : list(container(at(document("kubernetes.yaml", "Deployment"), "spec", "template", "spec"))
                .get("env"))) {
            variables.put(
                    String.valueOf(at(variable).get("name")),
                    String.valueOf(at(variable).get("value")));
        }
        return variables;
    }

    private static Map<String, Object> container(Map<String, Object> pod) {
        return at(list(pod.get("containers")).get(0));
    }

    private static Map<String, Object> document(String file) throws Exception {
        return at(new Yaml().load(Files.readString(KIT.resolve(file))));
    }

    private static Map<String, Object> document(String file, String kind) throws Exception {
        for (Object document : new Yaml().loadAll(Files.readString(KIT.resolve(file)))) {
            if (kind.equals(at(document).get("kind"))) {
                return at(document);
            }
        }
        throw new AssertionError(file + " has no " + kind);
    }

    @SuppressWarnings("unchecked")
    private static List<Object> list(Object value) {
        return (List<Object>) value;
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> at(Object map, String... path) {
        Map<String, Object> found = (Map<String, Object>) map;
        for (String key : path) {
            found = (Map<String, Object>) found.get(key);
        }
        return found;
    }
}
