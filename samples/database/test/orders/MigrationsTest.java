package orders;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.testkit.servers.PostgresServer;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;

/** The tables of the locks come with the application's own migrations, as docs/stores/sql.md says. */
class MigrationsTest {

    /** What makes the tables. */
    enum Tool {
        FLYWAY,
        LIQUIBASE;

        /** Returns the settings of the page, without the other tool. */
        List<String> settings() {
            return this == FLYWAY
                    ? List.of(
                            "spring.liquibase.enabled=false",
                            "spring.flyway.locations=classpath:db/migration,classpath:io/holdfast/sql/flyway/{vendor}")
                    : List.of(
                            "spring.flyway.enabled=false",
                            "spring.liquibase.change-log=classpath:db/changelog/changes.xml");
        }
    }

    private static PostgresServer postgres;

    @AfterAll
    static void stop() {
        if (postgres != null) {
            postgres.close();
        }
    }

    @ParameterizedTest
    @EnumSource
    void on_h2(Tool tool, @TempDir Path folder) {
        refundAndRestart("jdbc:h2:file:" + folder.resolve("shop") + ";AUTO_SERVER=TRUE", "sa", tool);
    }

    @ParameterizedTest
    @EnumSource
    void on_postgresql(Tool tool) throws Exception {
        if (postgres == null) {
            postgres = PostgresServer.start();
        }
        String database = tool.name().toLowerCase(Locale.ROOT);
        try (Connection connection = DriverManager.getConnection(postgres.url());
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE DATABASE " + database);
        }
        refundAndRestart("jdbc:postgresql://127.0.0.1:" + postgres.port() + "/" + database, "test", tool);
    }

    private static void refundAndRestart(String url, String user, Tool tool) {
        refund(url, user, tool, 1);
        // The migrations meet what they made.
        refund(url, user, tool, 2);
    }

    private static void refund(String url, String user, Tool tool, int start) {
        try (ConfigurableApplicationContext shop = start(url, user, tool)) {
            assertThat(shop.getBean(LockClient.class).describeStore()).startsWith(url.replaceAll(";.*", ""));
            Refunds refunds = shop.getBean(Refunds.class);
            assertThat(IntStream.range(0, 20)
                            .parallel()
                            .map(each -> refunds.refund(start))
                            .toArray())
                    .containsOnly(1);
            assertThat(shop.getBean(JdbcTemplate.class).queryForObject("SELECT COUNT(*) FROM refund", Integer.class))
                    .isEqualTo(start);
        }
    }

    private static ConfigurableApplicationContext start(String url, String user, Tool tool) {
        List<String> settings = new ArrayList<>(tool.settings());
        settings.addAll(List.of(
                "spring.main.banner-mode=off",
                "logging.level.root=warn",
                "spring.datasource.url=" + url,
                "spring.datasource.username=" + user));
        return SpringApplication.run(
                Shop.class, settings.stream().map(each -> "--" + each).toArray(String[]::new));
    }
}
