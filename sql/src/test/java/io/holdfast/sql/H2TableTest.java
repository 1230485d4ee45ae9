package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class H2TableTest extends TableTest {

    @Override
    String url() {
        return Databases.H2;
    }

    @Override
    LockTable table() {
        return new H2Table();
    }

    /** By default a committed take would be gone when the process that serves the file is killed. */
    @Test
    void aCommitIsOnTheDisk() throws SQLException {
        String delay = link.first(
                "SELECT SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS WHERE SETTING_NAME = 'WRITE_DELAY'",
                row -> row.getString(1));
        assertThat(delay).isEqualTo("0");
    }

    /** H2 notes an error in the file locks.trace.db. Users would find one after their first program. */
    @Test
    void noErrorIsNotedBesideTheFile(@TempDir Path dir) throws Exception {
        String url = "jdbc:h2:file:" + dir.resolve("locks") + ";AUTO_SERVER=TRUE;createTable=true";
        try (LockClient one = LockClient.connect(url);
                LockClient two = LockClient.connect(url)) {
            List<CompletableFuture<Void>> users = Stream.of(one, two, one, two)
                    .map(client -> CompletableFuture.runAsync(() -> {
                        for (int i = 0; i < 10; i++) {
                            client.acquireAsync("name " + i)
                                    .toCompletableFuture()
                                    .orTimeout(20, TimeUnit.SECONDS)
                                    .join()
                                    .release();
                        }
                    }))
                    .toList();
            users.forEach(CompletableFuture::join);
            one.acquireAll(List.of("name 1", "name 2")).release();
        }
        try (Stream<Path> files = Files.list(dir)) {
            assertThat(files.map(file -> file.getFileName().toString())).containsExactly("locks.mv.db");
        }
    }
}
