package io.holdfast.zookeeper;

import io.holdfast.spi.AcquireRequest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The queue of a lock or of a pool: the nodes in its folder, in order. A lock's node is called
 * {@code <holder id>~<session>~<number>}, a pool's node {@code <holder id>~<session>~<weight>~<capacity>~<number>}; the
 * servers number nodes in the order of their creation. Nodes with other names are not ours, and are ignored.
 *
 * <p>A node fits if the weights up to and including its own are at most its capacity. It holds when it and every node
 * before it fit. So the nodes that hold are before all that wait. A lock is the pool of capacity 1: its first node holds.
 *
 * <p>Once a look has shown that a node holds, that is true for as long as the node exists, however old the look is. A
 * look after the creation of a node shows every node that came before it, and of those some may only have gone since.
 */
final class QueueSnapshot {

    /**
     * The first number that no node may have. The servers count a folder's nodes in 31 bits. After 2147483647 they
     * repeat that number or give out negative ones, so the order of creation is no longer known. A client learns a
     * node's number only after its creation: this limit leaves room for the nodes that clients make before they know.
     */
    static final long LIMIT = (1L << 31) - (1 << 20);

    private record Entry(String node, String holderId, long number, int weight, int capacity) {}

    private final List<Entry> entries;
    private final int holders; // how many of them hold: the first ones
    private final int used; // what those weigh together
    private final @Nullable String foreign; // a node of the folder that is not ours

    private QueueSnapshot(List<Entry> entries, @Nullable String foreign) {
        this.entries = entries;
        this.foreign = foreign;
        int holding = 0;
        long weights = 0;
        while (holding < entries.size()
                && weights + entries.get(holding).weight()
                        <= entries.get(holding).capacity()) {
            weights += entries.get(holding).weight();
            holding++;
        }
        holders = holding;
        used = (int) weights;
    }

    /** Returns the beginning of a node's name for a holder id and a session. Of a lock's node it is all but the number. */
    static String prefix(String holderId, long session) {
        return NodeNames.encode(holderId) + "~" + Long.toHexString(session) + "~";
    }

    /** Returns what follows in the name of a pool's node; the servers append the number. */
    static String share(int weight, int capacity) {
        return weight + "~" + capacity + "~";
    }

    static QueueSnapshot of(List<String> nodes) {
        return of(nodes, false);
    }

    /** @param pool whether the folder is a pool's */
    static QueueSnapshot of(List<String> nodes, boolean pool) {
        List<Entry> entries = new ArrayList<>(nodes.size());
        String foreign = null;
        for (String node : nodes) {
            Entry entry = pool ? poolEntry(node) : entry(node);
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
            return new Entry(node, NodeNames.decode(node.substring(0, first)), number(node), 1, 1);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    private static @Nullable Entry poolEntry(String node) {
        String[] parts = node.split("~", -1);
        if (parts.length != 5 || parts[0].isEmpty()) {
            return null;
        }
        try {
            int weight = Integer.parseInt(parts[2]);
            int capacity = Integer.parseInt(parts[3]);
            return weight < 1 || weight > capacity || capacity > AcquireRequest.CAPACITY_MAX
                    ? null
                    : new Entry(node, NodeNames.decode(parts[0]), number(node), weight, capacity);
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

    /** Returns how many nodes hold: the first ones. Zero if there is no node. */
    int holders() {
        return holders;
    }

    /** Returns what the nodes that hold weigh together. */
    int used() {
        return used;
    }

    /** Returns the number of nodes that do not hold. */
    int waiting() {
        return entries.size() - holders;
    }

    /** Returns whether a node that is made now would hold. */
    boolean hasRoom(int weight, int capacity) {
        return waiting() == 0 && (long) used + weight <= capacity;
    }

    /**
     * Returns whether the holders are told of a node that has begun to wait. Nobody waits before it, and it needs all of
     * them to end, or there is only one.
     */
    boolean isAnnounced(int index) {
        return index == holders
                && (holders == 1
                        || entries.get(index).weight() == entries.get(index).capacity());
    }

    /** What a node that waits has to see before it can hold. */
    enum Event {
        /** The deletion of another node. */
        DELETED,
        /** The grant of the waiting node before it, which is a write to that node, or its deletion. */
        GRANTED,
        /** Any change of the folder. */
        CHANGED
    }

    /** @param node the other node; empty for the folder */
    record Awaited(Event event, String node) {

        static final Awaited FOLDER = new Awaited(Event.CHANGED, "");
    }

    /**
     * Returns what a node that waits has to watch. As few nodes as possible see one event, as each of them looks then.
     *
     * <p>A node may have before it another one that leaves it no room. If all that come after that one have room
     * together, the last such node is watched: behind a lock's node the next one, behind a writer all readers. Otherwise
     * a node waits for its turn, behind the waiting node before it. Only the first that waits watches the folder.
     */
    Awaited awaited(int index) {
        Entry own = entries.get(index);
        for (int i = index - 1; i >= 0; i--) {
            if (entries.get(i).weight() + own.weight() > own.capacity()) {
                if (fitAlone(i + 1, index)) {
                    return new Awaited(Event.DELETED, node(i));
                }
                break;
            }
        }
        return index > holders ? new Awaited(Event.GRANTED, node(index - 1)) : Awaited.FOLDER;
    }

    /** Returns whether there is a node behind another one that has room beside it. Others do not await its grant. */
    boolean hasRoomBehind(int index) {
        return index + 1 < entries.size()
                && entries.get(index).weight() + entries.get(index + 1).weight()
                        <= entries.get(index + 1).capacity();
    }

    /** Returns whether these nodes would all hold if there were no others. */
    private boolean fitAlone(int from, int to) {
        long weights = 0;
        for (int i = from; i <= to; i++) {
            weights += entries.get(i).weight();
            if (weights > entries.get(i).capacity()) {
                return false;
            }
        }
        return true;
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

    /** Returns the holder id of the first node, which holds. */
    String holder() {
        return holder(0);
    }

    String holder(int index) {
        return entries.get(index).holderId();
    }

    int weight(int index) {
        return entries.get(index).weight();
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
