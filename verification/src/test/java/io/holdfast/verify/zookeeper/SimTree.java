package io.holdfast.verify.zookeeper;

import io.holdfast.verify.zookeeper.SimCommand.Answer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * The nodes and sessions, as the transactions up to some zxid left them. All servers execute the same transactions, so
 * this is the state machine that is replicated. What the store does not use throws.
 */
final class SimTree {

    /** A node that was created; its name has the sequence number at its end. */
    record Created(String path, Stat stat) {}

    /** An event for watchers. */
    record Change(EventType type, String path) {}

    private static final class Node {
        final Stat stat = new Stat();
        final CreateMode mode;
        final TreeSet<String> children = new TreeSet<>();
        byte[] data;

        /** How many children were ever made: the number of the next sequential one. It stays at the largest int. */
        int made;

        Node(byte[] data, CreateMode mode) {
            this.data = data;
            this.mode = mode;
        }

        Stat stat() {
            Stat copy = new Stat();
            copy.setCzxid(stat.getCzxid());
            copy.setMzxid(stat.getMzxid());
            copy.setPzxid(stat.getPzxid());
            copy.setVersion(stat.getVersion());
            copy.setEphemeralOwner(stat.getEphemeralOwner());
            copy.setCversion(2 * made - children.size());
            copy.setNumChildren(children.size());
            copy.setDataLength(data.length);
            return copy;
        }
    }

    private final Map<String, Node> nodes = new HashMap<>();
    private final Map<Long, Integer> sessions = new TreeMap<>();
    private final Map<Long, TreeSet<String>> ephemerals = new HashMap<>();

    /** Of the transaction that is executed now: what it changed, and how to undo that. */
    private final List<Change> changes = new ArrayList<>();

    private final List<Runnable> undo = new ArrayList<>();
    private long zxid;

    /** How many children each new lock's folder pretends to have had, so that its numbers are soon used up. */
    private int madeBefore;

    SimTree() {
        nodes.put("", new Node(new byte[0], CreateMode.PERSISTENT));
    }

    /** Of the last transaction. */
    long zxid() {
        return zxid;
    }

    /** Sessions and their timeouts. */
    Map<Long, Integer> sessions() {
        return sessions;
    }

    // --- reads ---

    Answer children(String path) {
        Node node = nodes.get(path);
        return node == null ? failed(Code.NONODE) : done(List.copyOf(node.children));
    }

    Answer read(String path) {
        Node node = nodes.get(path);
        return node == null ? failed(Code.NONODE) : done(new SimCommand.Content(node.data, node.stat()));
    }

    @Nullable
    Stat stat(String path) {
        Node node = nodes.get(path);
        return node == null ? null : node.stat();
    }

    /** Containers that are to be removed. */
    List<String> emptyContainers() {
        return nodes.entrySet().stream()
                .filter(entry -> isEmptyContainer(entry.getValue()))
                .map(Map.Entry::getKey)
                .sorted()
                .toList();
    }

    // --- transactions ---

    /** Executes a transaction; all of it, or nothing but the zxid. */
    Answer execute(long zxid, long session, SimCommand.Write command) {
        if (zxid <= this.zxid) {
            throw new IllegalStateException("executed twice, or out of order");
        }
        this.zxid = zxid;
        changes.clear();
        undo.clear();
        return run(session, command);
    }

    /** What the last transaction changed, in the order in which watchers learn of it. */
    List<Change> changes() {
        return changes;
    }

    private Answer run(long session, SimCommand.Write command) {
        if (command instanceof SimCommand.Create create) {
            return create(session, create);
        } else if (command instanceof SimCommand.Delete delete) {
            return delete(delete.path());
        } else if (command instanceof SimCommand.SetData write) {
            return setData(write.path(), write.data());
        } else if (command instanceof SimCommand.Together together) {
            return together(session, together.steps());
        } else if (command instanceof SimCommand.NewSession begun) {
            sessions.put(begun.id(), begun.timeout());
            return done(begun);
        } else if (command instanceof SimCommand.EndSession ended) {
            sessions.remove(ended.id());
            for (String path : List.copyOf(ephemerals.getOrDefault(ended.id(), new TreeSet<>()))) {
                delete(path);
            }
            ephemerals.remove(ended.id());
            return done(ended);
        } else if (command instanceof SimCommand.DeleteContainer container) {
            Node node = nodes.get(container.path());
            return node != null && isEmptyContainer(node) ? delete(container.path()) : failed(Code.NOTEMPTY);
        } else if (command instanceof SimCommand.Refused refused) {
            return new Answer(refused.code(), "");
        }
        throw new IllegalStateException("not modelled: " + command);
    }

    void numberFoldersFrom(int made) {
        madeBefore = made;
    }

    /** Sets how many children of a node were made; outside of a transaction, so at all servers. */
    void setMade(String path, int made) {
        nodes.get(path).made = made;
    }

    private Answer create(long session, SimCommand.Create command) {
        CreateMode mode = command.mode();
        if (mode != CreateMode.EPHEMERAL_SEQUENTIAL && mode != CreateMode.EPHEMERAL && mode != CreateMode.CONTAINER) {
            throw new IllegalStateException("not modelled: " + mode);
        }
        String above = above(command.path());
        Node parent = nodes.get(above);
        if (parent == null) {
            return failed(Code.NONODE);
        }
        String path = command.path() + (mode.isSequential() ? String.format("%010d", parent.made) : "");
        if (nodes.containsKey(path)) {
            return failed(Code.NODEEXISTS);
        }
        if (parent.mode.isEphemeral()) {
            return failed(Code.NOCHILDRENFOREPHEMERALS);
        }
        Node node = new Node(command.data(), mode);
        if (mode == CreateMode.CONTAINER && path.lastIndexOf('/') > 0) {
            node.made = madeBefore;
        }
        node.stat.setCzxid(zxid);
        node.stat.setMzxid(zxid);
        node.stat.setPzxid(zxid);
        if (mode.isEphemeral()) {
            node.stat.setEphemeralOwner(session);
            ephemerals.computeIfAbsent(session, id -> new TreeSet<>()).add(path);
        }
        long pzxid = parent.stat.getPzxid();
        int made = parent.made;
        nodes.put(path, node);
        parent.children.add(path.substring(above.length() + 1));
        if (made < Integer.MAX_VALUE) {
            parent.made++;
            parent.stat.setPzxid(zxid);
        }
        undo.add(() -> {
            parent.stat.setPzxid(pzxid);
            parent.made = made;
            unlink(path, node);
        });
        changes.add(new Change(EventType.NodeCreated, path));
        changes.add(new Change(EventType.NodeChildrenChanged, above));
        return done(new Created(path, node.stat()));
    }

    private Answer delete(String path) {
        Node node = nodes.get(path);
        if (node == null || path.isEmpty()) {
            return failed(Code.NONODE);
        }
        if (!node.children.isEmpty()) {
            return failed(Code.NOTEMPTY);
        }
        String above = above(path);
        Node parent = nodes.get(above);
        if (parent == null) {
            throw new IllegalStateException(path + " has no parent");
        }
        long pzxid = parent.stat.getPzxid();
        unlink(path, node);
        parent.stat.setPzxid(zxid);
        undo.add(() -> {
            parent.stat.setPzxid(pzxid);
            nodes.put(path, node);
            parent.children.add(path.substring(above.length() + 1));
            if (node.mode.isEphemeral()) {
                ephemerals
                        .computeIfAbsent(node.stat.getEphemeralOwner(), id -> new TreeSet<>())
                        .add(path);
            }
        });
        changes.add(new Change(EventType.NodeDeleted, path));
        changes.add(new Change(EventType.NodeChildrenChanged, above));
        return done(true);
    }

    private void unlink(String path, Node node) {
        String above = above(path);
        nodes.remove(path);
        Node parent = nodes.get(above);
        if (parent != null) {
            parent.children.remove(path.substring(above.length() + 1));
        }
        TreeSet<String> owned = ephemerals.get(node.stat.getEphemeralOwner());
        if (owned != null) {
            owned.remove(path);
        }
    }

    private Answer setData(String path, byte[] data) {
        Node node = nodes.get(path);
        if (node == null) {
            return failed(Code.NONODE);
        }
        byte[] before = node.data;
        long mzxid = node.stat.getMzxid();
        undo.add(() -> {
            node.data = before;
            node.stat.setMzxid(mzxid);
            node.stat.setVersion(node.stat.getVersion() - 1);
        });
        node.data = data;
        node.stat.setMzxid(zxid);
        node.stat.setVersion(node.stat.getVersion() + 1);
        changes.add(new Change(EventType.NodeDataChanged, path));
        return done(node.stat());
    }

    private Answer together(long session, List<SimCommand.Write> steps) {
        List<OpResult> results = new ArrayList<>();
        for (SimCommand.Write step : steps) {
            Answer answer = run(session, step);
            if (answer.code() != Code.OK.intValue()) {
                for (int i = undo.size() - 1; i >= 0; i--) {
                    undo.get(i).run();
                }
                changes.clear();
                return answer;
            }
            results.add(
                    answer.value() instanceof Created made
                            ? new OpResult.CreateResult(made.path())
                            : new OpResult.DeleteResult());
        }
        return done(List.copyOf(results));
    }

    private static boolean isEmptyContainer(Node node) {
        return node.mode == CreateMode.CONTAINER && node.children.isEmpty() && node.made > 0;
    }

    private static String above(String path) {
        return path.substring(0, path.lastIndexOf('/'));
    }

    private static Answer done(Object value) {
        return new Answer(Code.OK.intValue(), value);
    }

    private static Answer failed(Code code) {
        return new Answer(code.intValue(), "");
    }
}
