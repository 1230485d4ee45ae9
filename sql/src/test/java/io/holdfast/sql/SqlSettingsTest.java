package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.spi.StoreException;
import java.net.URI;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SqlSettingsTest {

    @Test
    void ourOptionsAreNotTheDrivers() {
        SqlSettings settings =
                SqlSettings.parse(URI.create("jdbc:postgresql://db/app?user=a&createTable=true&notify=false&ssl=true"));
        assertThat(settings.url()).isEqualTo("jdbc:postgresql://db/app?user=a&ssl=true");
        assertThat(settings.createTable()).isTrue();
        assertThat(settings.notifies()).isFalse();
        settings = SqlSettings.parse(URI.create("jdbc:h2:file:/tmp/locks;CREATETABLE=TRUE;USER=sa"));
        assertThat(settings.url()).isEqualTo("jdbc:h2:file:/tmp/locks;USER=sa");
        assertThat(settings.createTable()).isTrue();
    }

    @Test
    void noPasswordIsShown() {
        SqlSettings settings =
                SqlSettings.parse(URI.create("jdbc:postgresql://u:x%40y@db:5433/app?user=a&password=s%2Fcret"));
        assertThat(settings.shown()).isEqualTo("jdbc:postgresql://db:5433/app");
        assertThat(settings).hasToString("jdbc:postgresql://db:5433/app");
        SqlErrors errors = new SqlErrors(settings);
        SQLException told = new SQLException("URL …password=s%2Fcret, that is s/cret", "08001");
        StoreException shown = errors.ofConnecting(told);
        assertThat(shown).hasMessageNotContainingAny("s%2Fcret", "s/cret").hasNoCause();
        assertThat(errors.ofConnecting(new SQLException("refused", "08001"))).hasCauseInstanceOf(SQLException.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:oracle:thin:@db",
                "jdbc:sqlserver://db;databaseName=app",
                "jdbc:cockroachdb://db/app",
                "jdbc:yugabytedb://db/app",
                "jdbc:x",
                "jdbc::"
            })
    void anotherDatabaseIsRefused(String url) {
        assertThatThrownBy(() -> LockClient.connect(url).close())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("jdbc:postgresql://host/database");
    }

    /** MySQL's drivers take a password in the address, too. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:mysql://app:s3cr3t@db:3306/app",
                "jdbc:mysql://app:s3cr3t@one,app:s3cr3t@two/app",
                "jdbc:mysql://address=(host=db)(user=app)(password=s3cr3t)/app",
                "jdbc:mysql://(host=db,user=app,password=s3cr3t)/app",
                "jdbc:mariadb://db/app?user=app&password=s3cr3t&serverSslCert=x",
            })
    void noPasswordOfAnAddressIsShown(String url) {
        SqlSettings settings = SqlSettings.parse(URI.create(url));
        assertThat(settings.url()).contains("s3cr3t");
        assertThat(settings.shown()).doesNotContain("s3cr3t");
        assertThat(settings.hidden("refused for s3cr3t")).isEqualTo("refused for ***");
    }

    /** A take that is sent again could be taken twice. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:mysql:loadbalance://one,two/app",
                "jdbc:mariadb:load-balance://one,two/app",
                "jdbc:mariadb://one,two/app?transactionReplay=true",
                "jdbc:mariadb://one,two/app?transactionReplay=1",
                "jdbc:mariadb://one,two/app?transactionReplay",
                "jdbc:mysql://one/app?autoReconnect=true",
                "jdbc:mysql://one/app?autoReconnect=yes",
            })
    void aDriverThatSendsAgainIsRefused(String url) {
        assertThatThrownBy(() -> LockClient.connect(url).close())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("expected: ");
    }

    @Test
    void anOptionHasAValue() {
        assertThatThrownBy(() -> LockClient.connect("jdbc:postgresql://db/app?createTable=yes")
                        .close())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("store URI, option createTable: a value that is neither true nor false (expected:"
                        + " createTable=true)");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:h2:./locks?createTable=true",
                "jdbc:postgresql://db/app;createTable=true",
                "jdbc:mysql://db/app&notify=false"
            })
    void anOptionOfOursWithinTheNameOfTheDatabaseIsRefused(String url) {
        assertThatThrownBy(() -> LockClient.connect(url).close())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageMatching(
                        "store URI, option (createTable|notify): not after the character .* \\(expected: [;?].*=true\\)");
    }

    @Test
    void aMissingDriverIsNamed() {
        for (SqlSettings.Kind kind : SqlSettings.Kind.values()) {
            SqlSettings settings =
                    new SqlSettings(kind, "jdbc:none:x", "jdbc:x", false, true, List.of(), DriverProperties.none());
            assertThatThrownBy(() -> Drivers.find(settings))
                    .isInstanceOf(StoreException.class)
                    .hasMessage("jdbc:x needs the driver " + kind.artifact() + ", which is not on the class path");
        }
    }

    @Test
    void aServerNeedsTimeToRecover() {
        SqlSettings server = SqlSettings.parse(URI.create("jdbc:postgresql://db/app"));
        assertThat(server.recovery()).isEqualTo(Duration.ofSeconds(11));
        assertThat(SqlSettings.parse(URI.create("jdbc:h2:file:/locks")).recovery())
                .isZero();
    }
}
