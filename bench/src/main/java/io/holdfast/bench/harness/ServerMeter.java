package io.holdfast.bench.harness;

import io.holdfast.testkit.servers.RedisServer;
import io.holdfast.testkit.servers.RespClient;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/** The server's counters between two points of time, without the commands of this meter. */
final class ServerMeter implements AutoCloseable {

    /**
     * The load of an interval.
     *
     * @param commands calls by command, those of scripts included
     * @param cpuMicros CPU time of the server
     */
    record Load(Map<String, Long> commands, long bytesIn, long bytesOut, double cpuMicros) {}

    private record Snapshot(Map<String, Long> commands, long bytesIn, long bytesOut, double cpuMicros, int ownBytes) {}

    /** The number of bytes of INFO ALL. */
    private static final int QUESTION_BYTES = "*2\r\n$4\r\nINFO\r\n$3\r\nALL\r\n".length();

    private final RespClient client;
    private Snapshot last;

    ServerMeter(RedisServer server) throws IOException {
        client = RespClient.connect(server.host(), server.port(), Duration.ofSeconds(10));
        last = read();
    }

    /** Begins an interval. */
    void start() throws IOException {
        last = read();
    }

    /** Ends the interval. */
    Load stop() throws IOException {
        Snapshot now = read();
        Map<String, Long> commands = new HashMap<>();
        now.commands().forEach((command, calls) -> {
            long more = calls - last.commands().getOrDefault(command, 0L);
            if (more > 0 && !command.equals("info")) {
                commands.put(command, more);
            }
        });
        return new Load(
                commands,
                now.bytesIn() - last.bytesIn() - QUESTION_BYTES,
                now.bytesOut() - last.bytesOut() - last.ownBytes(),
                now.cpuMicros() - last.cpuMicros());
    }

    /** Returns how many bytes the server's data take. */
    double usedMemory() throws IOException {
        for (String line : String.valueOf(client.call("INFO", "memory")).split("\r\n", -1)) {
            if (line.startsWith("used_memory:")) {
                return Double.parseDouble(line.substring("used_memory:".length()));
            }
        }
        return Double.NaN;
    }

    /** Sends another command. */
    String call(String... command) throws IOException {
        return String.valueOf(client.call(command));
    }

    @Override
    public void close() {
        try {
            client.close();
        } catch (IOException e) {
            // The meter is not used any more.
        }
    }

    private Snapshot read() throws IOException {
        String info = String.valueOf(client.call("INFO", "ALL"));
        Map<String, Long> commands = new HashMap<>();
        Map<String, String> values = new HashMap<>();
        for (String line : info.split("\r\n", -1)) {
            int colon = line.indexOf(':');
            if (line.startsWith("cmdstat_")) {
                String calls = line.substring(line.indexOf("calls=") + "calls=".length());
                commands.put(line.substring("cmdstat_".length(), colon), Long.valueOf(calls.split(",", 2)[0]));
            } else if (colon > 0) {
                values.put(line.substring(0, colon), line.substring(colon + 1));
            }
        }
        int length = info.getBytes(StandardCharsets.UTF_8).length;
        return new Snapshot(
                commands,
                Long.parseLong(values.getOrDefault("total_net_input_bytes", "0")),
                Long.parseLong(values.getOrDefault("total_net_output_bytes", "0")),
                1e6
                        * (Double.parseDouble(values.getOrDefault("used_cpu_user", "0"))
                                + Double.parseDouble(values.getOrDefault("used_cpu_sys", "0"))),
                length + Integer.toString(length).length() + "$\r\n\r\n".length());
    }
}
