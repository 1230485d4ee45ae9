package io.holdfast.testkit.servers;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The TLS files of a server, all PEM: its certificate and key, and the CA of the clients that it accepts. A server with
 * TLS keeps its plain port for the test itself, and announces the port with TLS.
 *
 * <pre>{@code
 * ThrowAwayCa ca = new ThrowAwayCa(folder, "ip:127.0.0.1");
 * ServerTls tls = new ServerTls(ca.certificate(), ca.key(), ca.ca());
 * String files = "?ca=" + ca.ca() + "&cert=" + ca.certificate() + "&key=" + ca.key();
 * try (RedisCluster cluster = RedisCluster.builder().tls(tls).start();
 *         LockClient locks = LockClient.connect(cluster.uri() + files)) {
 *     locks.run("order:42", lease -> orders.refund(42));
 * }
 * }</pre>
 *
 * @param certificate for {@code 127.0.0.1}; the server presents it to clients and to other servers
 */
public record ServerTls(Path certificate, Path key, Path ca) {

    List<String> arguments(int port, ServerRole role) {
        List<String> arguments = new ArrayList<>(arguments(port, "yes"));
        arguments.addAll(List.of("--tls-replication", "yes"));
        if (role == ServerRole.CLUSTER_NODE) {
            arguments.addAll(List.of("--tls-cluster", "yes"));
        }
        return arguments;
    }

    List<String> arguments(int port, String clients) {
        return List.of(
                "--tls-port",
                String.valueOf(port),
                "--tls-cert-file",
                certificate.toString(),
                "--tls-key-file",
                key.toString(),
                "--tls-ca-cert-file",
                ca.toString(),
                "--tls-auth-clients",
                clients);
    }
}
