package io.holdfast.zookeeper;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Those who hold or wait, in their order: the nodes in a lock's folder. A node is called {@code <holder id>~<session>~<number>};
 * the servers number them in the order of creation. Nodes with other names are not ours, and not looked at.
 */
final class QueueSnapshot {

    private record Entry(String node, String holderId, int number) {}

    private final List<Entry> entries;

    private QueueSnapshot(List<Entry> entries) {
        this.entries = entries;
    }

    /** What the name of a holder id's node begins with in a session; the servers append the number. */
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
                    // Not ours.
                }
            }
        }
        // The number is 32 bits wide and goes on below zero; those that are there together are never that far apart.
        entries.sort((a, b) -> Integer.compare(a.number - b.number, 0));
        return new QueueSnapshot(entries);
    }

    int size() {
        return entries.size();
    }

    boolean isEmpty() {
        return entries.isEmpty();
    }

    /** How many wait behind the first. */
    int waiting() {
        return Math.max(0, entries.size() - 1);
    }

    /** -1 if it is not there. */
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

    /** Larger for those who came later; compared by the sign of the difference. */
    int number(int index) {
        return entries.get(index).number();
    }

    String holder() {
        return entries.get(0).holderId();
    }

    /** The node whose name begins so, or null. */
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
