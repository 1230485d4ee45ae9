package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.spi.StoreException;
import java.net.URI;
import java.sql.SQLException;
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
    @ValueSource(strings = {"jdbc:mysql://db/app", "jdbc:mariadb://db/app", "jdbc:oracle:thin:@db", "jdbc:x", "jdbc::"})
    void anotherDatabaseIsRefused(String url) {
        assertThatThrownBy(() -> LockClient.connect(url).close())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("jdbc:postgresql://host/database");
    }

    @Test
    void anOptionHasAValue() {
        assertThatThrownBy(() -> LockClient.connect("jdbc:postgresql://db/app?createTable=yes")
                        .close())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("store URI, option createTable: a value that is neither true nor false (expected:"
                        + " createTable=true)");
    }

    @Test
    void aMissingDriverIsNamed() {
        SqlSettings settings = new SqlSettings(SqlSettings.Kind.H2, "jdbc:none:x", "jdbc:h2:x", false, true, List.of());
        assertThatThrownBy(() -> Drivers.find(settings))
                .isInstanceOf(StoreException.class)
                .hasMessage("jdbc:h2:x needs the driver com.h2database:h2, which is not on the class path");
    }
}
