package io.holdfast.testkit;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * How a server does TLS: with this certificate and key, and only for clients whose certificate is from the CA. All PEM files.
 * A server with TLS keeps its plain port for the test itself, and tells everybody else of the other one.
 *
 * @param certificate for {@code 127.0.0.1}, of the server and of what it connects to other servers with
 */
public record ServerTls(Path certificate, Path key, Path ca) {

    List<String> arguments(int port, ServerRole role) {
        List<String> arguments = new ArrayList<>(List.of(
                "--tls-port",
                String.valueOf(port),
                "--tls-cert-file",
                certificate.toString(),
                "--tls-key-file",
                key.toString(),
                "--tls-ca-cert-file",
                ca.toString(),
                "--tls-auth-clients",
                "yes",
                "--tls-replication",
                "yes"));
        if (role == ServerRole.CLUSTER_NODE) {
            arguments.addAll(List.of("--tls-cluster", "yes"));
        }
        return arguments;
    }
}
