package io.holdfast.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.LockClient;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The page, the dashboard and the alerts name the meters that there are. */
class MetersInFilesTest {

    private static final Path KIT = Path.of("../samples/operations");

    private static final Pattern ROW =
            Pattern.compile("(?m)^\\| `(holdfast[.a-z]+)` \\| (timer|counter|gauge|gauge, time) \\| ([^|\\n]*)\\|");

    private final HoldfastMetrics metrics =
            new HoldfastMetrics(HoldfastMetrics.prefixes(Set.of("order:refund", "job")));
    private final LockClient client =
            LockClient.builder().uri("memory:metrics").listener(metrics).build();

    @AfterEach
    void close() {
        client.close();
    }

    @Test
    void the_page_lists_each_meter_with_its_type_and_its_tags() throws Exception {
        MeterRegistry registry = new SimpleMeterRegistry();
        metrics.watch(client).bindTo(registry);
        EveryMeter.count(metrics, client);
        Map<String, String> listed = ROW.matcher(Files.readString(Path.of("../docs/metrics.md")))
                .results()
                .collect(Collectors.toMap(
                        row -> row.group(1),
                        row -> row.group(2) + " " + sorted(row.group(3).split("[` ,]+"))));
        await().untilAsserted(() -> {
            Map<String, String> meters = new TreeMap<>();
            registry.getMeters().forEach(meter -> meters.put(meter.getId().getName(), described(meter)));
            assertThat(meters).containsExactlyInAnyOrderEntriesOf(listed);
        });
    }

    private static String described(Meter meter) {
        String type = meter instanceof TimeGauge
                ? "gauge, time"
                : meter.getId().getType().name().toLowerCase(Locale.ROOT);
        return type + " "
                + sorted(meter.getId().getTags().stream().map(Tag::getKey).toArray(String[]::new));
    }

    private static Set<String> sorted(String... words) {
        return Stream.of(words).filter(word -> !word.isEmpty()).collect(Collectors.toCollection(TreeSet::new));
    }

    /** Prometheus has names of its own: a unit at the end, and "total". */
    @Test
    void the_dashboard_shows_each_meter_and_alerts_are_on_meters_that_exist() throws Exception {
        PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        metrics.watch(client).bindTo(prometheus);
        EveryMeter.count(metrics, client);
        Set<String> scraped = new TreeSet<>();
        await().untilAsserted(() -> {
            scraped.addAll(names(prometheus.scrape()));
            assertThat(scraped).contains("holdfast_lock_held_seconds_max", "holdfast_lease_lost_leases_total");
        });
        assertThat(names(Files.readString(KIT.resolve("grafana-dashboard.json"))))
                .containsExactlyInAnyOrderElementsOf(scraped);
        assertThat(scraped).containsAll(names(Files.readString(KIT.resolve("alerts.yaml"))));
        assertThat(scraped).containsAll(names(Files.readString(KIT.resolve("alerts-test.yaml"))));
    }

    private static Set<String> names(String text) {
        return Pattern.compile("(?m)(?<!(HELP|TYPE) )\\bholdfast_[a-z_]+")
                .matcher(text)
                .results()
                .map(MatchResult::group)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Skipped without a promtool on the PATH, which comes with Prometheus. */
    @ParameterizedTest
    @ValueSource(strings = {"check rules alerts.yaml", "check config prometheus.yaml", "test rules alerts-test.yaml"})
    void prometheus_takes_the_rules_and_they_fire_when_they_should(String command) throws Exception {
        assumeThat(Stream.of(System.getenv("PATH").split(File.pathSeparator))
                        .map(folder -> Path.of(folder, "promtool"))
                        .anyMatch(Files::isExecutable))
                .isTrue();
        Process promtool = new ProcessBuilder(("promtool " + command).split(" "))
                .directory(KIT.toFile())
                .redirectErrorStream(true)
                .start();
        String output = new String(promtool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(promtool.waitFor()).as(output).isZero();
    }
}
