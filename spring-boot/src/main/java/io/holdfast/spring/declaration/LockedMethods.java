package io.holdfast.spring.declaration;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** Lists the locked methods of the beans that were made so far, for people to read. Thread-safe. */
public final class LockedMethods {

    /** By the method and its class, and then by kind: several beans may have one class. */
    private final Map<String, LockedOperation> operations = new ConcurrentHashMap<>();

    public void add(LockedOperation operation) {
        operations.put(operation.describe() + " " + operation.kind(), operation);
    }

    /** Returns how many methods are locked, and how many are limited if there are any, for people. */
    public String describeCount() {
        String limited = count(true, "limited");
        return count(false, "locked") + (limited.startsWith("0 ") ? "" : ", " + limited);
    }

    private String count(boolean isLimited, String what) {
        long count = operations.values().stream()
                .filter(each -> (each.kind() == Kind.PERMITS) == isLimited)
                .count();
        return count + " " + what + (count == 1 ? " method" : " methods");
    }

    /** Returns the declarations, sorted by class and method. */
    public Stream<LockedOperation> all() {
        return operations.entrySet().stream().sorted(Map.Entry.comparingByKey()).map(Map.Entry::getValue);
    }
}
