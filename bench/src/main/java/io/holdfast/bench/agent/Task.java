package io.holdfast.bench.agent;

import io.holdfast.bench.peer.Handle;
import java.util.Map;

/** A piece of work that the parent orders by one line, and that answers with figures. */
@FunctionalInterface
interface Task {
    Map<String, Double> run(Handle handle, Message order) throws Exception;
}
