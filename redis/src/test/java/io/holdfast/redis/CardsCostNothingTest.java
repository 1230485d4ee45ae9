package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.CardDetail;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.testkit.servers.RedisServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Every acquire and release sends the same commands, whether the client keeps a card or not; as the server sees them.
 */
@Tag("deep") // the first card comes after five seconds
@Timeout(60)
class CardsCostNothingTest {

    private static final long WORK_NANOS = Duration.ofSeconds(6).toNanos();

    @Test
    void the_commands_of_acquire_and_release_are_the_same_with_and_without_cards() throws Exception {
        List<String> without = commands(CardDetail.OFF);
        List<String> with = commands(CardDetail.THREADS);
        assertThat(without).hasSizeGreaterThan(50).noneMatch(CardsCostNothingTest::isOfCards);
        assertThat(with).anyMatch(CardsCostNothingTest::isOfCards);
        with.removeIf(CardsCostNothingTest::isOfCards);
        assertThat(with).isEqualTo(without);
    }

    private static boolean isOfCards(String command) {
        return command.contains("holdfast:card");
    }

    private static List<String> commands(CardDetail cards) throws Exception {
        try (RedisServer server = RedisServer.start();
                LockClient client = LockClient.builder()
                        .uri(server.uri() + "?mode=lua")
                        .cards(cards)
                        .build()) {
            client.acquire("warm-up").release();
            try (Socket socket = new Socket(server.host(), server.port())) {
                BufferedReader lines = monitor(socket);
                long end = System.nanoTime() + WORK_NANOS;
                for (int i = 0; i < 25; i++) {
                    try (Lease first = client.acquire("first-" + i)) {
                        assertThat(client.tryAcquire("first-" + i)).isEmpty();
                        client.acquire("second").release();
                        first.ensureValid();
                    }
                    Thread.sleep(Math.max(1, (end - System.nanoTime()) / 1_000_000 / (25 - i)));
                }
                server.command("ECHO", "the end");
                return read(lines, client.id());
            }
        }
    }

    private static BufferedReader monitor(Socket socket) throws IOException {
        socket.getOutputStream().write("MONITOR\r\n".getBytes(StandardCharsets.UTF_8));
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
        assertThat(lines.readLine()).isEqualTo("+OK");
        return lines;
    }

    /**
     * Without the ids of clients, times and random bits, what scripts do, and what every connection sends when it
     * begins or rests.
     */
    private static List<String> read(BufferedReader lines, String clientId) throws IOException {
        List<String> commands = new ArrayList<>();
        for (String line = lines.readLine(); !line.contains("the end"); line = lines.readLine()) {
            String command = line.substring(line.indexOf(']') + 1)
                    .replace(clientId, "ID")
                    .replaceAll("\\d{10,}", "N")
                    .replaceAll("\"1000:[0-9a-z]+\"", "\"1000:BITS\"");
            if (!line.contains(" lua] ") && !command.matches(" \"(TIME|PING|HELLO|CLIENT|SUBSCRIBE)\".*|")) {
                commands.add(command);
            }
        }
        return commands;
    }
}
