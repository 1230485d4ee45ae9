package io.holdfast.testkit.servers;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A node's view of its cluster: its answer to CLUSTER NODES. */
record ClusterView(List<Node> nodes) {

    /** One line of the answer, without the slots that are migrating. */
    record Node(
            String id,
            int port,
            List<String> flags,
            @Nullable String masterId,
            boolean linked,
            List<int[]> slots) {

        boolean isMaster() {
            return flags.contains("master");
        }

        boolean isFailed() {
            return flags.contains("fail") || flags.contains("fail?");
        }

        boolean serves(int slot) {
            return slots.stream().anyMatch(range -> range[0] <= slot && slot <= range[1]);
        }
    }

    static ClusterView of(RedisServer server) {
        List<Node> nodes = new ArrayList<>();
        for (String line : String.valueOf(server.command("CLUSTER", "NODES")).split("\n", -1)) {
            if (!line.isBlank()) {
                nodes.add(parse(line.strip().split(" ", -1)));
            }
        }
        return new ClusterView(nodes);
    }

    /** Returns the id under which a node is known in its cluster. */
    static String idOf(RedisServer server) {
        return of(server).nodes.stream()
                .filter(node -> node.flags().contains("myself"))
                .findFirst()
                .orElseThrow()
                .id();
    }

    Node at(int port) {
        return nodes.stream()
                .filter(node -> node.port() == port)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no node at port " + port));
    }

    Node masterOf(int slot) {
        return nodes.stream()
                .filter(node -> node.isMaster() && node.serves(slot))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no master serves slot " + slot));
    }

    // id ip:port@bus[,hostname] flags master ping pong epoch link slot slot-slot [slot->-id] …
    private static Node parse(String[] words) {
        String address = words[1].substring(0, words[1].indexOf('@'));
        List<int[]> slots = new ArrayList<>();
        for (int i = 8; i < words.length; i++) {
            if (!words[i].startsWith("[")) {
                String[] range = words[i].split("-", 2);
                slots.add(new int[] {Integer.parseInt(range[0]), Integer.parseInt(range[range.length - 1])});
            }
        }
        return new Node(
                words[0],
                Integer.parseInt(address.substring(address.lastIndexOf(':') + 1)),
                List.of(words[2].split(",", -1)),
                words[3].equals("-") ? null : words[3],
                words[7].equals("connected"),
                slots);
    }
}
