package io.holdfast.zookeeper;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The queue of a lock: the nodes in its folder, in order. The first one holds. A node's name is
 * {@code <holder id>~<session>~<number>}; the servers number nodes in the order of their creation. Nodes with other
 * names are not ours, and are ignored.
 */
final class QueueSnapshot {

    private record Entry(String node, String holderId, int number) {}

    private final List<Entry> entries;

    private QueueSnapshot(List<Entry> entries) {
        this.entries = entries;
    }

    /** Returns the beginning of a node's name for a holder id and a session; the servers append the number. */
    static String prefix(String holderId, long session) {
        return NodeNames.encode(holderId) + "~" + Long.toHexString(session) + "~";
    }

    static QueueSnapshot of(List<String> nodes) {
        List<Entry> entries = new ArrayList<>(nodes.size());
        for (String node : nodes) {
            int first = node.indexOf('~');
            int last = node.lastIndexOf('~');
            if (first > 0 && last > first) {
                try {
                    entries.add(new Entry(
                            node,
                            NodeNames.decode(node.substring(0, first)),
                            Integer.parseInt(node.substring(last + 1))));
                } catch (IllegalArgumentException e) {
                    // The node is not ours.
                }
            }
        }
        // The number is 32 bits wide and overflows below zero; nodes of one queue are never that far apart.
        entries.sort((a, b) -> Integer.compare(a.number - b.number, 0));
        return new QueueSnapshot(entries);
    }

    int size() {
        return entries.size();
    }

    boolean isEmpty() {
        return entries.isEmpty();
    }

    /** Returns the number of nodes behind the first. */
    int waiting() {
        return Math.max(0, entries.size() - 1);
    }

    /** Returns the node's place, or -1 if it is not there. */
    int indexOf(String node) {
        for (int i = 0; i < entries.size(); i++) {
            if (entries.get(i).node().equals(node)) {
                return i;
            }
        }
        return -1;
    }

    String node(int index) {
        return entries.get(index).node();
    }

    /** Returns a number that is larger for nodes that came later; compare by the sign of the difference. */
    int number(int index) {
        return entries.get(index).number();
    }

    String holder() {
        return entries.get(0).holderId();
    }

    /** Returns the node whose name begins with the prefix, or null. */
    @Nullable
    String find(String prefix) {
        for (Entry entry : entries) {
            if (entry.node().startsWith(prefix)) {
                return entry.node();
            }
        }
        return null;
    }
}
