package io.holdfast.zookeeper;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The queue of a lock: the nodes in its folder, in order. The first one holds. A node's name is
 * {@code <holder id>~<session>~<number>}; the servers number nodes in the order of their creation. Nodes with other
 * names are not ours, and are ignored.
 */
final class QueueSnapshot {

    /**
     * The first number that no node may have. The servers count a folder's nodes in 31 bits. After 2147483647 they
     * repeat that number or give out negative ones, so the order of creation is no longer known. A client learns a
     * node's number only after its creation: this limit leaves room for the nodes that clients make before they know.
     */
    static final long LIMIT = (1L << 31) - (1 << 20);

    private record Entry(String node, String holderId, long number) {}

    private final List<Entry> entries;
    private final @Nullable String foreign; // a node of the folder that is not ours

    private QueueSnapshot(List<Entry> entries, @Nullable String foreign) {
        this.entries = entries;
        this.foreign = foreign;
    }

    /** Returns the beginning of a node's name for a holder id and a session; the servers append the number. */
    static String prefix(String holderId, long session) {
        return NodeNames.encode(holderId) + "~" + Long.toHexString(session) + "~";
    }

    static QueueSnapshot of(List<String> nodes) {
        List<Entry> entries = new ArrayList<>(nodes.size());
        String foreign = null;
        for (String node : nodes) {
            Entry entry = entry(node);
            if (entry == null) {
                foreign = node;
            } else {
                entries.add(entry);
            }
        }
        entries.sort(Comparator.comparingLong(Entry::number));
        return new QueueSnapshot(entries, foreign);
    }

    private static @Nullable Entry entry(String node) {
        int first = node.indexOf('~');
        int last = node.lastIndexOf('~');
        if (first <= 0 || last == first) {
            return null;
        }
        try {
            return new Entry(node, NodeNames.decode(node.substring(0, first)), number(node));
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    /** Returns the number at the end of a node's name, or of its path. A negative one counts as larger than others. */
    static long number(String node) {
        return Integer.toUnsignedLong(Integer.parseInt(node.substring(node.lastIndexOf('~') + 1)));
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

    /** Returns a number that is larger for nodes that came later. */
    long number(int index) {
        return entries.get(index).number();
    }

    /** Returns another node with the same number, so that nobody knows which came first; null if there is none. */
    @Nullable
    String twin(int index) {
        for (int i = Math.max(0, index - 1); i < entries.size() && i <= index + 1; i++) {
            if (i != index && number(i) == number(index)) {
                return node(i);
            }
        }
        return null;
    }

    /** Returns a node of the folder that is not ours, or null if all are. */
    @Nullable
    String foreign() {
        return foreign;
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
