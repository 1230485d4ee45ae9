package io.holdfast.verify.zookeeper;

import java.util.List;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.data.Stat;

/** What a client, or the ensemble itself, wants done. */
@SuppressWarnings("ArrayRecordComponent") // data that nobody changes, or compares
sealed interface SimCommand {

    /** Those that every server executes, in the order of their zxids. */
    sealed interface Write extends SimCommand {}

    record Create(String path, byte[] data, CreateMode mode) implements Write {}

    record Delete(String path) implements Write {}

    record SetData(String path, byte[] data) implements Write {}

    record Together(List<Write> steps) implements Write {}

    record NewSession(long id, int timeout) implements Write {}

    record EndSession(long id) implements Write {}

    /** A container that had children, and has none. */
    record DeleteContainer(String path) implements Write {}

    /** Refused by the leader: takes its place in the order, and changes nothing. */
    record Refused(int code) implements Write {}

    record Children(String path, boolean watch) implements SimCommand {}

    record Read(String path, boolean watch) implements SimCommand {}

    record Sync(String path) implements SimCommand {}

    record Ping() implements SimCommand {}

    /** After a reconnection: what is still watched. */
    record SetWatches(List<String> paths, List<String> dataPaths, long since) implements SimCommand {}

    /** What a node has in it. */
    record Content(byte[] data, Stat stat) {}

    /** What a command came to: ZooKeeper's code, and what its callback gets. */
    record Answer(int code, Object value) {}
}
