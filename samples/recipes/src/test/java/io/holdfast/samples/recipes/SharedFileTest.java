package io.holdfast.samples.recipes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LeaseLostException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SharedFileTest {

    @TempDir
    private Path folder;

    @Test
    void no_line_is_lost() throws Exception {
        assertThat(lines(Fleet.of(4))).isEqualTo(12);
    }

    @Test
    void without_the_lock_lines_are_lost() throws Exception {
        assertThat(lines(Fleet.withoutCommonStore(4))).isLessThan(12);
    }

    @Test
    void a_change_under_a_lost_lease_does_not_reach_the_file() throws Exception {
        Path file = folder.resolve("log.txt");
        try (Fleet fleet = Fleet.of(1)) {
            assertThatThrownBy(() -> new SharedFile(fleet.node(0), file).update(text -> {
                        fleet.node(0).forceRelease("file:" + file);
                        return text + "late";
                    }))
                    .isInstanceOf(LeaseLostException.class);
        }
        assertThat(file).doesNotExist();
    }

    /** Returns the number of lines after each of four nodes has added three. */
    private long lines(Fleet fleet) throws Exception {
        Path file = folder.resolve("log.txt");
        try (fleet) {
            fleet.all((locks, node) -> {
                for (int i = 0; i < 3; i++) {
                    try {
                        new SharedFile(locks, file).update(text -> {
                            Fleet.pause();
                            return text + "node " + node + "\n";
                        });
                    } catch (NoSuchFileException e) {
                        // Without a common lock, tokens may be equal, and another node has moved the file: a lost line.
                    }
                }
                return null;
            });
        }
        return Files.readAllLines(file).size();
    }
}
